import type { ManagedRuntime } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Store } from '../../store/index.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { toEventDelivery } from './webhook-delivery.ts';
import { WebhookLogReader } from './webhook-log-reader.ts';
import type { PushFormat } from './push-format.ts';
import type { WebhookRegistry } from './webhook-registry.ts';
import type { WebhookSender } from './webhook-sender.ts';
import type { WebhookEventType } from './webhook.ts';

const FOREIGN_RESCAN_MS = 1000;

export interface WebhookOutboxOptions {
  readonly store: Store;
  readonly runtime: ManagedRuntime;
  readonly clock: Clock;
  readonly registry: WebhookRegistry;
  readonly sender: WebhookSender;
  /** How protocols push, by name. Default: none does. */
  readonly pushFormats?: ReadonlyMap<string, PushFormat>;
  readonly onError: (error: unknown) => void;
}

/**
 * Delivers events of sessions to webhooks. Every event is delivered, also one that happened while no server ran. A
 * webhook may receive a message twice, with the same id.
 */
export class WebhookOutbox {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #registry: WebhookRegistry;
  readonly #onError: (error: unknown) => void;
  readonly #queue: DeliveryQueue;
  readonly #reader: WebhookLogReader;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #unsubscribe = (): void => {};
  #cancelRescan: (() => void) | undefined;

  constructor(options: WebhookOutboxOptions) {
    const { store, runtime, clock, registry, sender, onError, pushFormats = new Map() } = options;
    this.#store = store;
    this.#clock = clock;
    this.#registry = registry;
    this.#onError = onError;
    const closing = this.#closing.signal;
    const runInBackground = (work: () => Promise<void>): void => this.#runInBackground(work);
    this.#queue = new DeliveryQueue({
      documents: store,
      runtime,
      clock,
      registry,
      sender,
      pushFormats,
      closing,
      runInBackground,
      onError,
    });
    this.#reader = new WebhookLogReader({
      store,
      clock,
      registry,
      pushFormats,
      closing,
      runInBackground,
      onDeliveries: (changes) => this.#queue.scheduleAll(changes),
    });
  }

  /** Resumes what an earlier process left undone. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#store.subscribe((changed, origin) => {
      if (changed === 'any' || origin !== 'here') this.#rescanSoon();
      else for (const key of changed) this.#reader.scheduleRead(key);
    });
    await this.#registry.reencryptSecrets();
    await this.#reader.scan();
    await this.#queue.start();
  }

  /** Stops sending. Undelivered messages stay stored. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#unsubscribe();
    this.#cancelRescan?.();
    this.#queue.stop();
    await Promise.allSettled(this.#running);
  }

  /** Publishes an event that is not in the session's log. A repetition has no effect. */
  async publish(workspace: string, sessionId: string, type: WebhookEventType): Promise<void> {
    const at = this.#clock.now();
    const deliveries = (await this.#registry.list(workspace))
      .filter(({ events }) => events.includes(type))
      .map((webhook) => toEventDelivery(webhook, { workspace, sessionId, type, at, key: type }));
    await Promise.all(deliveries.map(async (change) => this.#store.writeDocuments([change])));
    this.#queue.scheduleAll(deliveries);
  }

  /**
   * Reads what other processes changed, once a second at most: each of them reads its own changes at once. This is for
   * a process that was killed before it did, and for webhooks that were created elsewhere.
   */
  #rescanSoon(): void {
    this.#cancelRescan ??= this.#clock.at(this.#clock.now() + FOREIGN_RESCAN_MS, () => {
      this.#cancelRescan = undefined;
      this.#reader.rescan();
    });
  }

  #runInBackground(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#onError(error);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
