import type { LogEvent, LoggedError, SessionKey } from '../../core/index.ts';
import type { Observer } from '../../runtime/index.ts';
import { failureReference } from './client-error-message.ts';

/** A failure of a session, for its operator. Clients see `reference` and `code`. */
export interface SessionFailure {
  /** The session id and the number of the event: `session_1#12`. The client's error message contains it. */
  readonly reference: string;
  readonly at: number;
  readonly code: string;
  /** The original message. It may contain the response of a provider. */
  readonly message: string;
}

/** Creates an observer of the runtime that passes each failure to `write`, with the reference that clients see. */
export function failureLog(write: (failure: SessionFailure) => void): Observer {
  return ({ key, events }) => {
    for (const event of events) {
      const error = findError(event);
      if (error !== undefined) write(toSessionFailure(key, event, error));
    }
  };
}

function toSessionFailure(
  { sessionId }: SessionKey,
  { seq, at }: LogEvent,
  { code, message }: LoggedError,
): SessionFailure {
  return { reference: failureReference(sessionId, seq), at, code, message };
}

function findError(event: LogEvent): LoggedError | undefined {
  switch (event.type) {
    case 'error':
      return event;
    case 'turn.rescheduled':
    case 'outcome.evaluated':
      return event.error;
    default:
      return undefined;
  }
}
