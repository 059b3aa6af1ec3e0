import { importOptional, isModuleNotFound } from '../../../core/internal.ts';
import type {
  auth,
  Client,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  isStrictScopeSuperset,
  specTypeSchemas,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpPackageMissingError } from './mcp-errors.ts';

/** The parts of the package `@modelcontextprotocol/client` that Petrichor uses. */
export interface McpSdk {
  readonly Client: typeof Client;
  readonly StdioClientTransport: typeof StdioClientTransport;
  readonly StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport;
  readonly InsufficientScopeError: typeof InsufficientScopeError;
  readonly UnauthorizedError: typeof UnauthorizedError;
  readonly auth: typeof auth;
  readonly computeScopeUnion: typeof computeScopeUnion;
  readonly extractWWWAuthenticateParams: typeof extractWWWAuthenticateParams;
  readonly isStrictScopeSuperset: typeof isStrictScopeSuperset;
  readonly specTypeSchemas: typeof specTypeSchemas;
}

/**
 * Loads the optional package. No other module does.
 * @throws McpPackageMissingError if it is not installed
 */
export async function loadMcpSdk(): Promise<McpSdk> {
  const [client, { StdioClientTransport }] = await importOptional(
    Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]),
    (cause) => (isModuleNotFound(cause) ? new McpPackageMissingError({ cause }) : cause),
  );
  return { ...client, StdioClientTransport };
}
