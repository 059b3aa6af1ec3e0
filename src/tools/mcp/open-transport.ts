import type {
  AuthProvider,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../net/index.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { McpAddress, McpProgram, McpToolsetSettings } from './mcp-options.ts';
import type { McpSecrets } from './mcp-secrets.ts';
import type { McpSdk } from './mcp-sdk.ts';
import type { ListedTools } from './sift-listed-tools.ts';
import { SignIn } from './sign-in.ts';

/** A way to a server that is not used yet. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Over HTTP only: where a session is ended. */
  readonly http?: StreamableHTTPClientTransport;
  /** The last words of a program on its standard error: why it would not start. */
  readonly lastWords: () => string;
}

export interface TransportServices {
  readonly sdk: McpSdk;
  readonly clock: Clock;
  /** What the server may know and nobody may hear from it. */
  readonly secrets: McpSecrets;
  readonly listed: ListedTools;
  /** Who says which token goes along; a `SignIn` also sees what is refused. */
  readonly authProvider?: AuthProvider | SignIn;
}

type TransportSettings = Pick<McpToolsetSettings, 'name' | 'maxMessageBytes'>;

const DEFAULT_MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const LAST_WORDS_LENGTH = 2000;

/** When a stream of a running call breaks, and the server can go on with it: tried again 1, 2 and 4 s later. */
const RESUMPTION = {
  initialReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 30_000,
  maxRetries: 3,
} as const;

export function openTransport(
  place: (McpProgram | McpAddress) & TransportSettings,
  services: TransportServices,
): OpenedTransport {
  const opened =
    'command' in place ? programTransport(place, services) : httpTransport(place, services);
  services.listed.watch(opened.transport);
  hearWithoutSecrets(opened.transport, services);
  return opened;
}

/** Everything a server says passes here: results, errors, questions, lists, progress. */
function hearWithoutSecrets(
  transport: Transport,
  { secrets, listed }: Pick<TransportServices, 'secrets' | 'listed'>,
): void {
  let hear: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => hear,
    set: (listener: NonNullable<Transport['onmessage']> | undefined) => {
      hear =
        listener && ((message, extra) => listener(secrets.redacted(listed.sifted(message)), extra));
    },
  });
}

function programTransport(
  {
    command,
    args = [],
    env = {},
    cwd,
    maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES,
  }: McpProgram & TransportSettings,
  { sdk, secrets }: TransportServices,
): OpenedTransport {
  const transport = new sdk.StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    maxBufferSize: maxMessageBytes,
    ...(cwd !== undefined && { cwd }),
  });
  let words = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-LAST_WORDS_LENGTH);
  });
  return { transport, lastWords: () => secrets.redact(words.trim()) };
}

function httpTransport(
  {
    name,
    url,
    headers = {},
    fetch = globalThis.fetch,
    maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES,
  }: McpAddress & TransportSettings,
  { sdk, clock, authProvider }: TransportServices,
): OpenedTransport {
  const bounded = boundedFetch(fetch, name, maxMessageBytes);
  const http = new sdk.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    reconnectionOptions: RESUMPTION,
    reconnectionScheduler: (reconnect, delayMs) => clock.at(clock.now() + delayMs, reconnect),
    fetch: authProvider instanceof SignIn ? authProvider.watching(bounded) : bounded,
    ...(authProvider !== undefined && { authProvider }),
  });
  answerWhenStreamEnds(http);
  return { transport: http, http, lastWords: () => '' };
}

/** What a request is answered with when its stream ended without an answer. The client alone would wait on. */
export const STREAM_ENDED = 'petrichor: the stream ended without an answer';

function answerWhenStreamEnds(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (Array.isArray(message) || !('id' in message) || !('method' in message)) {
      return send(message, options);
    }
    const { id } = message;
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: -32_000, message: STREAM_ENDED };
      // A request that has its answer is not waiting any more, and this goes nowhere.
      transport.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
}
