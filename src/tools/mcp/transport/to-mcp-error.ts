import { isPetrichorError, type PetrichorError } from '../../../core/index.ts';
import {
  McpConnectError,
  McpConnectionLostError,
  McpRequestError,
  McpUnauthorizedError,
} from '../vocabulary/mcp-errors.ts';
import type { McpSecrets } from '../vocabulary/mcp-secrets.ts';
import { STREAM_ENDED } from './open-transport.ts';

/**
 * True if the server certainly did not process the request: there is no connection, or it does not
 * know the session.
 */
export function isUnsent(error: unknown): boolean {
  const { code, message, status } = toErrorFacts(error);
  if (code === 'NOT_CONNECTED' || message === 'Not connected' || status === 404) return true;
  // The protocol defines 404 for an expired session. Some servers send 400.
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

/** The server of an error, and its secrets. */
export interface ErrorSource {
  readonly server: string;
  readonly secrets: Pick<McpSecrets, 'redact' | 'cause'>;
}

/**
 * Converts an error of the MCP package to an error of Petrichor. An error of Petrichor is returned
 * unchanged.
 */
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
    return new McpRequestError(server, 'the request timed out.', cause);
  }
  return new McpRequestError(server, message, cause);
}

/** True for the error of fetch for a broken connection. */
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

// The classes belong to the optional package, so errors are recognized by their members.
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
