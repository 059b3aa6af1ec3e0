/** The status of a managed session. */
export type ManagedStatus =
  | 'queued'
  | 'running'
  | 'idle'
  | 'rescheduling'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'archived';

/**
 * The statuses that may follow each status. A paused session also returns to the status it had. All other changes are
 * rejected.
 */
export const STATUS_TABLE: Readonly<Record<ManagedStatus, readonly ManagedStatus[]>> = {
  queued: ['running', 'paused', 'archived'],
  running: ['idle', 'rescheduling', 'paused', 'failed', 'archived'],
  rescheduling: ['running', 'paused', 'failed', 'archived'],
  idle: ['running', 'paused', 'completed', 'archived'],
  paused: ['queued', 'running', 'rescheduling', 'idle', 'failed', 'archived'],
  failed: ['running', 'idle', 'archived'],
  completed: ['archived'],
  archived: [],
};

export function isManagedStatus(value: unknown): value is ManagedStatus {
  return typeof value === 'string' && Object.hasOwn(STATUS_TABLE, value);
}
