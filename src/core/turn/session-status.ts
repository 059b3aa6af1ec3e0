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
