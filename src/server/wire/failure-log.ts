import type { LogEvent, LoggedError, SessionKey } from '../../core/index.ts';
import type { Observer } from '../../runtime/index.ts';

/** A failure of a session, for its operator. Clients see `reference` and `code`. */
export interface SessionFailure {
  /** The session id and the number of the event: `session_1#12`. The client's error message contains it. */
  readonly reference: string;
  readonly at: number;
  readonly code: string;
  /** The original message. It may contain the response of a provider. */
  readonly message: string;
}

/**
 * Codes whose messages Petrichor composes from the session alone. All other messages may repeat text from a provider, a
 * server or an exception.
 */
const CLIENT_SAFE_CODES: ReadonlySet<string> = new Set([
  'answer_refused',
  'illegal_transition',
  'input_rejected',
  'join_incomplete',
  'message_poisoned',
  'model_aborted',
  'model_calls_spent',
  'model_unsupported',
  'state_conflict',
  'step_limit',
  'token_schema',
  'transfer_limit',
  'transfer_unknown',
  'yield_limit',
]);

/**
 * The message of a failure for clients. It contains no text from a provider or an exception, but the reference under
 * which the operator finds it.
 */
export function toClientMessage({ code, message }: LoggedError, reference: string): string {
  if (CLIENT_SAFE_CODES.has(code)) return message;
  const problem = code.startsWith('model_') ? 'The model call failed' : 'An error occurred';
  return `${problem} (${code}). The server log has the reason under "${reference}".`;
}

/** The reference of an event of a session, for clients and for the server's log. */
export function failureReference(sessionId: string, seq: number): string {
  return `${sessionId}#${seq}`;
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
