import type { LoggedError } from '../../core/index.ts';

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
  'quota_exceeded',
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
