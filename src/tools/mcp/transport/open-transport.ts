import { omitUndefined } from '../../../core/internal.ts';
import type {
  AuthProvider,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../net/index.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type {
  McpHttpServer,
  McpStdioServer,
  McpToolsetSettings,
} from '../vocabulary/mcp-options.ts';
import type { McpSecrets } from '../vocabulary/mcp-secrets.ts';
import type { McpSdk } from '../vocabulary/mcp-sdk.ts';
import type { ListedTools } from './listed-tools.ts';
import { AuthorizationFlow } from '../auth/authorization-flow.ts';

/** A transport to a server that is not connected yet. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Over HTTP only: terminates the session. */
  readonly http?: StreamableHTTPClientTransport;
  /** The end of a program's standard error, which tells why it did not start. */
  readonly stderrTail: () => string;
}

export interface TransportServices {
  readonly sdk: McpSdk;
  readonly clock: Clock;
  /** Redacts the secrets of this server from its messages. */
  readonly secrets: McpSecrets;
  readonly listed: ListedTools;
  /** Supplies the token of requests. An `AuthorizationFlow` also sees rejections. */
  readonly authProvider?: AuthProvider | AuthorizationFlow;
}

type TransportSettings = Pick<McpToolsetSettings, 'name' | 'maxMessageBytes'>;

const DEFAULT_MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const STDERR_TAIL_LENGTH = 2000;

/**
 * Retries when the stream of a running call breaks and the server can resume it: after 1, 2 and 4
 * s.
 */
const RESUMPTION = {
  initialReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 30_000,
  maxRetries: 3,
} as const;

export function openTransport(
  server: (McpStdioServer | McpHttpServer) & TransportSettings,
  services: TransportServices,
): OpenedTransport {
  const opened =
    'command' in server ? stdioTransport(server, services) : httpTransport(server, services);
  services.listed.trackRequests(opened.transport);
  redactIncoming(opened.transport, services);
  return opened;
}

/** Redacts and filters every message of a server: results, errors, questions, lists, progress. */
function redactIncoming(
  transport: Transport,
  { secrets, listed }: Pick<TransportServices, 'secrets' | 'listed'>,
): void {
  let handler: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler,
    set: (listener: NonNullable<Transport['onmessage']> | undefined) => {
      handler =
        listener &&
        ((message, extra) => listener(secrets.redacted(listed.filterTools(message)), extra));
    },
  });
}

function stdioTransport(
  {
    command,
    args = [],
    env = {},
    cwd,
    maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES,
  }: McpStdioServer & TransportSettings,
  { sdk, secrets }: TransportServices,
): OpenedTransport {
  const transport = new sdk.StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    maxBufferSize: maxMessageBytes,
    ...omitUndefined({ cwd }),
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-STDERR_TAIL_LENGTH);
  });
  return { transport, stderrTail: () => secrets.redact(stderr.trim()) };
}

function httpTransport(
  {
    name,
    url,
    headers = {},
    fetch = globalThis.fetch,
    maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES,
  }: McpHttpServer & TransportSettings,
  { sdk, clock, authProvider }: TransportServices,
): OpenedTransport {
  const bounded = boundedFetch(fetch, name, maxMessageBytes);
  const http = new sdk.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    reconnectionOptions: RESUMPTION,
    reconnectionScheduler: (reconnect, delayMs) => clock.at(clock.now() + delayMs, reconnect),
    fetch:
      authProvider instanceof AuthorizationFlow
        ? authProvider.trackRejectedTokens(bounded)
        : bounded,
    ...omitUndefined({ authProvider }),
  });
  failWhenStreamEnds(http);
  return { transport: http, http, stderrTail: () => '' };
}

/**
 * The error message of a request whose stream ended without a response. The client alone would wait
 * forever.
 */
export const STREAM_ENDED = 'petrichor: the stream ended without an answer';

function failWhenStreamEnds(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (Array.isArray(message) || !('id' in message) || !('method' in message)) {
      return send(message, options);
    }
    const { id } = message;
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: -32_000, message: STREAM_ENDED };
      // A request that has its response no longer waits, and ignores this.
      transport.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
}
