import type { Client } from '@modelcontextprotocol/client';
import { raceWithAbort } from '../../../models/model/race-with-abort.ts';
import type { Clock } from '../../../net/index.ts';
import { McpClosedError, McpConnectionLostError } from '../vocabulary/mcp-errors.ts';
import { isUnsent, toMcpError, type ErrorSource } from './to-mcp-error.ts';

/** A client that is connected, and how it ends. */
export interface OpenedClient {
  readonly client: Client;
  readonly close: () => Promise<void>;
}

export interface ConnectionOptions extends ErrorSource {
  readonly clock: Clock;
  /** One attempt to connect. `onLost` is called when the connection goes away by itself; the signal aborts at the end. */
  readonly open: (onLost: () => void, signal: AbortSignal) => Promise<OpenedClient>;
  /** After every connect but the first. */
  readonly onReconnected: () => void;
  readonly onWarning: (message: string) => void;
  /** Makes what was refused for lack of credentials possible; false when it cannot. */
  readonly authorize: (error: unknown) => Promise<boolean>;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** So often in a row a lost connection is made again unasked. After that, the next call does. */
const MAX_RECONNECT_ATTEMPTS = 5;

/**
 * A connection that is made again when it is lost: at once, then after 0.5 s, doubling to 30 s. A call that comes
 * meanwhile waits for the next attempt, and fails when that fails.
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
   * Asks the server something. What never reached it is sent once more over a new connection; what may have reached it
   * is not.
   * @throws McpConnectError, McpConnectionLostError, McpRequestError, McpUnauthorizedError, McpClosedError
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
        const again = attempt === 1 && (unsent || (await this.#authorize(error, signal)));
        if (!again) throw toMcpError(this.#options, error);
      }
    }
  }

  // A person may take long, or never come.
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
