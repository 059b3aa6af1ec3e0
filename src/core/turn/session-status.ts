/**
 * The status of a session, whatever made its agent.
 *
 * - `queued`: no message has started a turn yet.
 * - `running`: a turn runs.
 * - `waiting`: a turn waits for a person or a result from outside.
 * - `rescheduling`: a model call waits for its next attempt.
 * - `idle`: no turn runs.
 * - `paused`: no turn and no effect starts until a resume.
 * - `failed`: the last turn ended because all attempts of a model call failed. A resume or a message continues.
 * - `completed`, `archived`: no turn starts again.
 */
export type SessionStatus =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'rescheduling'
  | 'idle'
  | 'paused'
  | 'failed'
  | 'completed'
  | 'archived';

/**
 * What the turn of a session does, also while the session is paused. `idle`: no turn runs. `running`: a turn runs.
 * `waiting`: a turn waits for an answer from outside.
 */
export type SessionActivity = 'idle' | 'running' | 'waiting';

/**
 * The statuses that may follow each status. A paused session returns to the status that it has without the pause. All
 * other changes are refused.
 */
export const STATUS_TABLE: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  queued: ['running', 'paused', 'archived'],
  running: ['idle', 'waiting', 'rescheduling', 'paused', 'failed', 'archived'],
  waiting: ['running', 'idle', 'paused', 'archived'],
  rescheduling: ['running', 'paused', 'failed', 'archived'],
  idle: ['running', 'paused', 'completed', 'archived'],
  paused: ['queued', 'running', 'waiting', 'rescheduling', 'idle', 'failed', 'archived'],
  failed: ['running', 'idle', 'archived'],
  completed: ['archived'],
  archived: [],
};

export function isSessionStatus(value: unknown): value is SessionStatus {
  return typeof value === 'string' && Object.hasOwn(STATUS_TABLE, value);
}

/** True for a status from which no turn can start again. */
export function isClosedStatus(status: SessionStatus): status is 'completed' | 'archived' {
  return status === 'completed' || status === 'archived';
}
