import { STATUS_TABLE as SESSION_TABLE } from '../../core/index.ts';
import type { SessionStatus } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';

/** The status of a managed session. A session that waits for an answer is `idle` for the clients that can answer it. */
export type ManagedStatus = Exclude<SessionStatus, 'waiting'>;

/**
 * The statuses that may follow each status. A paused session also returns to the status it had. All other changes are
 * rejected.
 */
export const STATUS_TABLE: Readonly<Record<ManagedStatus, readonly ManagedStatus[]>> = {
  queued: listNext('queued'),
  running: listNext('running'),
  rescheduling: listNext('rescheduling'),
  idle: listNext('idle', 'waiting'),
  paused: listNext('paused'),
  failed: listNext('failed'),
  completed: listNext('completed'),
  archived: listNext('archived'),
};

export function isManagedStatus(value: unknown): value is ManagedStatus {
  return typeof value === 'string' && Object.hasOwn(STATUS_TABLE, value);
}

/** The managed status of a session row. */
export function toManagedStatus({ status }: SessionRow): ManagedStatus {
  return status === 'quarantined' ? 'failed' : projectStatus(status);
}

function projectStatus(status: SessionStatus): ManagedStatus {
  return status === 'waiting' ? 'idle' : status;
}

/** The statuses that may follow one of these, which are one status for clients. */
function listNext(...statuses: readonly SessionStatus[]): readonly ManagedStatus[] {
  const [shown] = statuses.map(projectStatus);
  const next = statuses.flatMap((status) => SESSION_TABLE[status]).map(projectStatus);
  return [...new Set(next)].filter((status) => status !== shown);
}
