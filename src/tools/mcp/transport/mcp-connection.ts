import type { Client } from '@modelcontextprotocol/client';
import { raceWithAbort } from '../../../models/internal.ts';
import type { Clock } from '../../../net/index.ts';
import { McpClosedError, McpConnectionLostError } from '../vocabulary/mcp-errors.ts';
import { isUnsent, toMcpError, type ErrorSource } from './to-mcp-error.ts';

/** A connected client and how to close it. */
export interface OpenedClient {
  readonly client: Client;
  readonly close: () => Promise<void>;
}

export interface ConnectionOptions extends ErrorSource {
  readonly clock: Clock;
  /**
   * Makes one attempt to connect. `onLost` is called if the connection is lost later; the signal
   * aborts on close.
   */
  readonly open: (onLost: () => void, signal: AbortSignal) => Promise<OpenedClient>;
  /** Called after every connect except the first. */
  readonly onReconnected: () => void;
  readonly onWarning: (message: string) => void;
  /**
   * Resolves with true once a request that was rejected for lack of authorization can be sent
   * again.
   */
  readonly authorize: (error: unknown) => Promise<boolean>;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/**
 * How many times in a row a lost connection is reopened in the background. After that, the next
 * call reopens it.
 */
const MAX_RECONNECT_ATTEMPTS = 5;

/**
 * A connection that reconnects when it is lost: at once, then after 0.5 s, doubling up to 30 s. A
 * call in the meantime waits for the next attempt and fails if that fails.
 */
export class McpConnection {
  readonly #options: ConnectionOptions;
  #opening: Promise<OpenedClient> | undefined;
  #failures = 0;
  #wasOpen = false;
  readonly #closing = new AbortController();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. A request that certainly did not reach the server is sent once more over a new
   * connection; any other is not repeated.
   * @throws McpConnectError if the server cannot be reached
   * @throws McpConnectionLostError if the connection was lost after the request was sent
   * @throws McpRequestError if the server rejected the request
   * @throws McpUnauthorizedError if authorization fails
   * @throws McpClosedError if the toolset is closed
   */
  async use<T>(request: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const opening = this.#open();
      const { client } = await raceWithAbort(opening, this.#abortSignal(signal));
      try {
        return await request(client);
      } catch (error) {
        signal?.throwIfAborted();
        if (this.#closing.signal.aborted) throw new McpClosedError(this.#options.server);
        const unsent = isUnsent(error);
        if (unsent) this.#drop(opening);
        const mayRetry = attempt === 1 && (unsent || (await this.#authorize(error, signal)));
        if (!mayRetry) throw toMcpError(this.#options, error);
      }
    }
  }

  // A person may take long, or not answer at all, so the wait can be aborted.
  async #authorize(error: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    return raceWithAbort(this.#options.authorize(error), this.#abortSignal(signal));
  }

  async close(): Promise<void> {
    this.#closing.abort(new McpClosedError(this.#options.server));
    const opening = this.#opening;
    this.#opening = undefined;
    await opening?.then(
      ({ close }) => close(),
      () => undefined,
    );
  }

  #abortSignal(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined
      ? this.#closing.signal
      : AbortSignal.any([signal, this.#closing.signal]);
  }

  #open(): Promise<OpenedClient> {
    if (this.#opening !== undefined) return this.#opening;
    const opening = this.#attempt();
    this.#opening = opening;
    opening.catch(() => this.#drop(opening));
    return opening;
  }

  async #attempt(): Promise<OpenedClient> {
    const { open, onReconnected } = this.#options;
    await this.#backoff();
    this.#closing.signal.throwIfAborted();
    let lost = (): void => undefined;
    try {
      const opened = await open(() => lost(), this.#closing.signal);
      lost = () => this.#lost();
      this.#failures = 0;
      if (this.#wasOpen) onReconnected();
      this.#wasOpen = true;
      return opened;
    } catch (error) {
      this.#failures++;
      throw toMcpError(this.#options, error, 'connecting');
    }
  }

  async #backoff(): Promise<void> {
    if (this.#failures === 0) return;
    const { clock } = this.#options;
    const delayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (this.#failures - 1));
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.at(clock.now() + delayMs, resolve);
    await raceWithAbort(promise, this.#closing.signal).finally(cancel);
  }

  #lost(): void {
    this.#opening = undefined;
    if (this.#closing.signal.aborted) return;
    this.#options.onWarning(new McpConnectionLostError(this.#options.server).message);
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    for (let attempt = 1; attempt <= MAX_RECONNECT_ATTEMPTS; attempt++) {
      if (this.#closing.signal.aborted) return;
      try {
        await this.#open();
        return;
      } catch (error) {
        this.#options.onWarning(error instanceof Error ? error.message : String(error));
      }
    }
  }

  #drop(opening: Promise<OpenedClient>): void {
    if (this.#opening === opening) this.#opening = undefined;
    opening.then(
      ({ close }) => close(),
      () => undefined,
    );
  }
}
