import { InvalidInputError, optionTable } from '../core/index.ts';
import type { OptionNames, OptionTable, SessionKey } from '../core/index.ts';
import type { LiveHub } from '../live/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import type { Clock } from '../net/index.ts';
import type { RetentionPolicy, Runtime, SessionArchive } from '../runtime/index.ts';
import type { Store } from '../store/index.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { ProtocolName } from './protocol-list.ts';
import { PROOF_OPTION_NAMES } from './proofs/proof-options.ts';
import type { ProofOptions } from './proofs/proof-options.ts';
import type { WebhookRules } from './webhooks/webhook-sender.ts';

/**
 * Limits for callers. A larger body gets status 413; more requests get 429 with `retry-after`. Each server process
 * counts for itself.
 */
export interface ServerLimits {
  /** Maximum size of a request body, in bytes. Default: 1,048,576. */
  readonly bodyBytes?: number;
  /** Maximum size of a journal file that is imported, in bytes. Default: 67,108,864. */
  readonly importBytes?: number;
  /** Per key: requests that create an agent, environment, session or webhook. Default: 60. */
  readonly createsPerMinute?: number;
  /** Per key: all other requests. Default: 600. */
  readonly requestsPerMinute?: number;
  /**
   * Per address: requests with an invalid key. Above it, requests of that address get 429, except with keys that were
   * valid recently. Default: 30.
   */
  readonly failedKeysPerMinute?: number;
  /** Per key: live calls at a time. Default: 10. */
  readonly liveConnections?: number;
  /** Maximum size of a message of a live session, in bytes. Default: 65,536. */
  readonly liveMessageBytes?: number;
}

/**
 * Options of `createServer`: the runtime to serve, who may call it, and its timeouts. Closing the server does not close
 * `runtime` and `store`.
 */
export interface ServerOptions {
  /** The runtime of `openRuntime`, or of `openManagedRuntime` or `manageRuntime`. All of its agents and sessions are served. */
  readonly runtime: Runtime | ManagedRuntime;
  /** Where the server stores keys, environments and workspaces. Default: the store of the runtime. */
  readonly store?: Store;
  /**
   * `required`: every request needs a key from this store. `off`: no request needs one; requests without a key use the
   * workspace `default`. `when-created`: as `off` until the store has its first key, then as `required`. The
   * first key counts at once in the process that created it, and within a second in others.
   */
  readonly keys: 'required' | 'when-created' | 'off';
  readonly limits?: ServerLimits;
  /**
   * The protocols that the server speaks. Each serves all agents and all sessions.
   * Default: `['managed']`, the Managed Agents protocol.
   */
  readonly protocols?: readonly ProtocolName[];
  /**
   * Origins whose web pages may call the server, for example `https://app.example`. While no key is required, requests
   * from pages of other origins get 403; with keys, browsers hide the response from them. Default: none.
   */
  readonly allowOrigins?: readonly string[];
  /**
   * Names that are accepted as `Host` while no key is required, besides those of this machine (`localhost`,
   * `127.0.0.1`, `[::1]`): `agents.internal`, `*.internal`. With keys every name is accepted. Default: none.
   */
  readonly allowHosts?: readonly string[];
  /** A stream without events sends a comment after this long, in milliseconds. Default: 15,000. */
  readonly keepAliveMs?: number;
  /** A stalled stream reader is disconnected after this long, in milliseconds. Default: 30,000. */
  readonly readerTimeoutMs?: number;
  /**
   * For requests without an `Idempotency-Key` that report to be a retry (`X-Stainless-Retry-Count`). Such a request
   * counts as a repetition of an equal request whose response was written at most this many milliseconds ago, because a
   * proxy may have lost that response. A deliberate equal request whose first attempt was lost then takes effect once
   * only. 0: a response counts as lost only if its connection broke. Default: 60,000.
   */
  readonly retryWindowMs?: number;
  /** How long a worker keeps a session without a heartbeat, in milliseconds. Default: 60,000. */
  readonly leaseMs?: number;
  /**
   * Origins that callers may use as the `base_url` of a model: `http://127.0.0.1:11434`, or `https://*.example.com` for
   * public addresses with TLS. The runtime must allow them, too. Default: none.
   */
  readonly modelOrigins?: readonly string[];
  /** Addresses that webhooks may have. Default: public addresses with TLS. */
  readonly webhooks?: WebhookRules;
  /**
   * Encrypts the secrets of webhooks in the store: at least 32 random characters. For rotation, pass several separated
   * by commas: the first encrypts, all decrypt. A function is called when the key is first needed. Without a key,
   * webhooks can be created only in a store that ends with the process. Default: none.
   */
  readonly secretKey?: string | (() => string);
  readonly clock?: Clock;
  /**
   * The address of the server for its clients, with `basePath`, for documents that name it, such as the cards of A2A:
   * `https://agents.example`. Default: the scheme and the host of each request, which behind a TLS proxy is http.
   */
  readonly publicUrl?: string;
  /** Prefix of all paths, for example `/agents`. Default: none. */
  readonly basePath?: string;
  /**
   * Refuses every request that could change something, with status 403 and the code `read_only`, whatever the scope of its
   * key. The server itself then writes nothing either: it delivers no webhooks and removes no expired documents. The
   * sessions of the runtime go on. Default: false.
   */
  readonly readOnly?: boolean;
  /**
   * Lets keys with the scope `import` add sessions of journal files to their workspace. Such a file can have approvals that
   * nobody gave, for calls of every tool that the agent of the session has. Default: false.
   */
  readonly imports?: boolean;
  /**
   * How long sessions are kept. Sessions that the policy no longer keeps are archived or deleted when the server starts and
   * every hour. Several servers can do this on one store. Default: they are kept.
   */
  readonly retention?: RetentionPolicy;
  /** Where `retention` archives sessions, with the artifacts of the runtime. Needed by a policy with `archiveAfterDays`. */
  readonly archive?: SessionArchive;
  /**
   * Serves the developer console below `/console/`. It calls this server as any other client does: with a key, where
   * one is required. `files` is the folder of the built console; default: the one of this package. Default: false.
   */
  readonly console?: boolean | { readonly files: string };
  /**
   * Serves ADK's web interface below `/dev-ui/`: the folder `dist/browser` of an installed `@google/adk-devtools`. It
   * needs the protocol `adk`, and has no place for a key. Default: it is not served.
   */
  readonly adkWeb?: string;
  /**
   * Lets callers prove properties of the agents that a module exports, each in a child process. Default: no proofs.
   */
  readonly proofs?: ProofOptions;
  /**
   * The hub of the runtime, whose live sessions are served over WebSockets at `/v1/sessions/{session_id}/live`. Needs the
   * package `ws`. Default: they are not served.
   */
  readonly live?: LiveHub;
  /**
   * Serves a page below `/live/` that speaks with the agents of this server: with `live` only. `files` is the folder of
   * the built page; default: the one of this package. Default: false.
   */
  readonly livePage?: boolean | { readonly files: string };
  /**
   * Whether clients of ADK's `/run_live` may have their live session recorded (`save_live_blob`): with `live` only. A
   * function is asked at the beginning of each such live session: for example whether the speakers have consented.
   * Default: false, and a client that asks for it is refused.
   */
  readonly liveRecordings?: boolean | ((session: SessionKey) => boolean | Promise<boolean>);
  /** Enables `GET /metrics`. Pass `metrics.observe` to the runtime as an observer. */
  readonly metrics?: Metrics;
  /** Receives a line for each request that may have changed something. */
  readonly audit?: (line: AuditLine) => void;
  /** Receives internal errors. Clients see only that one occurred. */
  readonly onError?: (error: unknown) => void;
  /**
   * Called when an operator sends `POST /v1/operator/drain`. The server accepts no more changes then. It should call
   * `drain` and `close` of the server, and end the process. Default: calls `drain`.
   */
  readonly onDrain?: () => void;
}

/** The options of `createServer`. */
export const SERVER_OPTIONS: OptionTable = optionTable<ServerOptions>('createServer', {
  retryWindowMs: true,
  secretKey: true,
  runtime: true,
  store: true,
  keys: true,
  protocols: true,
  limits: {
    bodyBytes: true,
    importBytes: true,
    createsPerMinute: true,
    requestsPerMinute: true,
    failedKeysPerMinute: true,
    liveConnections: true,
    liveMessageBytes: true,
  } satisfies OptionNames<ServerLimits>,
  allowOrigins: true,
  allowHosts: true,
  keepAliveMs: true,
  readerTimeoutMs: true,
  leaseMs: true,
  modelOrigins: true,
  webhooks: { allowHosts: true, resolve: true } satisfies OptionNames<WebhookRules>,
  clock: true,
  basePath: true,
  publicUrl: true,
  readOnly: true,
  imports: true,
  retention: true,
  archive: true,
  console: true,
  adkWeb: true,
  proofs: PROOF_OPTION_NAMES,
  live: true,
  livePage: true,
  liveRecordings: true,
  metrics: true,
  audit: true,
  onError: true,
  onDrain: true,
});

/** One request that may have changed something, and its outcome. It contains no secrets and no content of messages. */
export interface AuditLine {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly requestId: string;
  readonly workspace: string;
  readonly keyId: string;
  readonly method: string;
  /** Percent-encoded as sent, without the query. It contains no spaces and no control characters. */
  readonly path: string;
  readonly status: number;
}

/** @throws InvalidInputError for a limit that is not a positive integer */
export function checkLimits(limits: ServerLimits = {}): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) continue;
    throw new InvalidInputError(
      `limits.${name}`,
      `must be a whole number above 0; it is ${String(limit)}.`,
    );
  }
}
