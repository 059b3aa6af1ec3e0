/** What a managed session is doing. */
export type ManagedStatus =
  | 'queued'
  | 'running'
  | 'idle'
  | 'rescheduling'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'archived';

/** Where a session may go from each status; a paused one also goes back to what it was. Everything else is refused. */
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
