import { isPetrichorError, type PetrichorError } from '../../../core/index.ts';
import {
  McpConnectError,
  McpConnectionLostError,
  McpRequestError,
  McpUnauthorizedError,
} from '../vocabulary/mcp-errors.ts';
import type { McpSecrets } from '../vocabulary/mcp-secrets.ts';
import { STREAM_ENDED } from './open-transport.ts';

/** The server has surely not seen what was asked: there is no connection, or the session is one it does not know. */
export function isUnsent(error: unknown): boolean {
  const { code, message, status } = toErrorFacts(error);
  if (code === 'NOT_CONNECTED' || message === 'Not connected' || status === 404) return true;
  // The protocol has 404 for a session that is gone. Some say 400.
  if (status === 400 && /session/i.test(message)) return true;
  return toErrorFacts(deepestCause(error)).code === 'ECONNREFUSED';
}

export function isUnauthorized(error: unknown): boolean {
  const { code, name, status } = toErrorFacts(error);
  return (
    name === 'UnauthorizedError' ||
    name === 'InsufficientScopeError' ||
    code === 'CLIENT_HTTP_AUTHENTICATION' ||
    status === 401
  );
}

/** Whose error it is, and what of it nobody is to see. */
export interface ErrorSource {
  readonly server: string;
  readonly secrets: Pick<McpSecrets, 'redact' | 'cause'>;
}

/** What the client of the protocol threw, in our words. Ours stay as they are. */
export function toMcpError(
  { server, secrets }: ErrorSource,
  thrown: unknown,
  during: 'connecting' | 'asking' = 'asking',
): PetrichorError {
  if (isPetrichorError(thrown)) return thrown;
  const { code, message: text } = toErrorFacts(thrown);
  const message = secrets.redact(text);
  const cause = secrets.cause(thrown);
  if (isUnauthorized(thrown)) return new McpUnauthorizedError(server, message, cause);
  if (during === 'connecting') {
    const reason = withReason(text, deepestCause(thrown));
    return new McpConnectError(server, secrets.redact(reason), cause);
  }
  if (code === 'CONNECTION_CLOSED' || message.includes(STREAM_ENDED) || isBroken(thrown)) {
    return new McpConnectionLostError(server, cause);
  }
  if (code === 'REQUEST_TIMEOUT') {
    return new McpRequestError(server, 'no answer came in time.', cause);
  }
  return new McpRequestError(server, message, cause);
}

/** What fetch says of a connection that broke. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError && /fetch failed|terminated/.test(error.message);
}

function withReason(message: string, cause: unknown): string {
  const { message: reason } = toErrorFacts(cause);
  return reason === '' || message.includes(reason) ? message : `${message}: ${reason}`;
}

function deepestCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? deepestCause(error.cause) : error;
}

interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly code: unknown;
  readonly status: unknown;
}

// The classes belong to the optional package, so an error is told by what it has.
function toErrorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) {
    return { name: '', message: '', code: undefined, status: undefined };
  }
  const { name, message } = error;
  return {
    name,
    message,
    code: 'code' in error ? error.code : undefined,
    status: 'status' in error ? error.status : undefined,
  };
}
