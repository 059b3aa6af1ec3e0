import type { Readable, Writable } from 'node:stream';
import { importOptional, isModuleNotFound } from '../core/internal.ts';
import { checkOptions, newMessageId, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { DEFAULT_WORKSPACE } from './auth/api-keys.ts';
import { createContext, toManagedRuntime } from './create-context.ts';
import { MissingServerPackageError } from './http/missing-server-package-error.ts';
import { createMcpServer } from './protocols/mcp/create-mcp-server.ts';
import { loadMcpServerSdk } from './protocols/mcp/mcp-server-sdk.ts';
import type { ServerOptions } from './server-options.ts';

/** What is served over stdio, and the streams of the client. */
export interface ServeMcpOptions extends Pick<ServerOptions, 'runtime' | 'store' | 'clock'> {
  readonly input: Readable;
  readonly output: Writable;
  /** Receives internal errors. The client sees only that one occurred. */
  readonly onError: (error: unknown) => void;
}

/** The options of `serveMcpStdio`. */
export const SERVE_MCP_OPTIONS: OptionTable = optionTable<ServeMcpOptions>('serveMcpStdio', {
  runtime: true,
  store: true,
  clock: true,
  input: true,
  output: true,
  onError: true,
});

/** A connection with a client over stdio. */
export interface McpStdioConnection {
  /** Resolves when the client has closed its side. */
  readonly ended: Promise<void>;
  /** Closes the connection. Turns that run go on, and are resumed by the next process of the store. */
  readonly close: () => Promise<void>;
}

/**
 * Serves the agents and sessions of a runtime to one MCP client over stdio, as the workspace `default`.
 * @throws MissingServerPackageError when `@modelcontextprotocol/server` is not installed
 */
export async function serveMcpStdio(options: ServeMcpOptions): Promise<McpStdioConnection> {
  checkOptions(SERVE_MCP_OPTIONS, options);
  const { input, output, onError } = options;
  const toMissing = (cause: unknown): unknown =>
    isModuleNotFound(cause)
      ? new MissingServerPackageError('@modelcontextprotocol/server', cause)
      : cause;
  const sdk = await importOptional(loadMcpServerSdk(), toMissing);
  const { serveStdio, StdioServerTransport } = await importOptional(
    import('@modelcontextprotocol/server/stdio'),
    toMissing,
  );
  const closing = new AbortController();
  const runtime = await toManagedRuntime(options);
  const context = createContext(
    { ...options, runtime, keys: 'off', protocols: [] },
    {
      closing: closing.signal,
      draining: closing.signal,
      drain: () => {},
      isDrained: () => false,
    },
  );
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  // Before the transport sees it: the end of a connection stops no turn, a cancelled call does.
  const onEnd = (): void => {
    closing.abort();
    end();
  };
  input.once('end', onEnd).once('close', onEnd);
  const connection = serveStdio(
    async () =>
      createMcpServer(sdk, context, {
        caller: { workspace: DEFAULT_WORKSPACE, keyId: 'local' },
        newMessageId,
        canAsk: true,
      }),
    { transport: new StdioServerTransport(input, output), onerror: onError },
  );
  return {
    ended,
    close: async () => {
      closing.abort();
      await connection.close();
    },
  };
}
