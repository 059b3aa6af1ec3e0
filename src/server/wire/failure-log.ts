import type { LogEvent, LoggedError, SessionKey } from '../../core/index.ts';
import type { Observer } from '../../runtime/index.ts';

/** A failure of a session as its operator sees it. Clients see `reference` and `code`. */
export interface SessionFailure {
  /** The session and the number of the event: `session_1#12`. A client that reports a failure has it. */
  readonly reference: string;
  readonly at: number;
  readonly code: string;
  /** What went wrong, in the words of whoever failed. It may hold the reply of a provider. */
  readonly message: string;
}

/**
 * Codes whose messages Petrichor writes itself, from the session alone. All other messages may repeat what a provider,
 * a server or an exception said.
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

/** What a client is told of a failure: nothing that a provider or an exception said, and where its operator finds that. */
export function toClientMessage({ code, message }: LoggedError, reference: string): string {
  if (CLIENT_SAFE_CODES.has(code)) return message;
  const what = code.startsWith('model_') ? 'The model call failed' : 'This failed on the server';
  return `${what} (${code}). The log of the server has the reason under "${reference}".`;
}

/** Names an event of a session, for a client and in the log of the server. */
export function failureReference(sessionId: string, seq: number): string {
  return `${sessionId}#${seq}`;
}

/** An observer of the runtime that writes each failure to the operator's log, under the reference that clients get. */
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
