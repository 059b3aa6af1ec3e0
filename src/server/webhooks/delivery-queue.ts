import { isPetrichorError } from '../../core/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';
import { DELIVERY_KIND, parseDelivery, retryDelayMs, toDeliveryJson } from './webhook-delivery.ts';
import type { Delivery } from './webhook-delivery.ts';
import type { PushFormat } from './push-format.ts';
import type { WebhookRegistry } from './webhook-registry.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { toToolResultEvent } from './webhook-tool-result.ts';
import { signedHeaders } from './webhook.ts';
import type { Webhook } from './webhook.ts';

const RESPONSE_TIMEOUT_MS = 15_000;
/** After this time a delivery whose process died is taken over by another process. */
const LEASE_MS = 60_000;

export interface DeliveryQueueOptions {
  readonly documents: DocumentStore;
  readonly runtime: ManagedRuntime;
  readonly clock: Clock;
  readonly registry: WebhookRegistry;
  readonly sender: WebhookSender;
  /** How protocols push, by name. */
  readonly pushFormats: ReadonlyMap<string, PushFormat>;
  /** Aborts running requests; nothing is sent afterwards. */
  readonly closing: AbortSignal;
  readonly runInBackground: (work: () => Promise<void>) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Sends stored deliveries when they are due, and retries those that fail. The time of the next attempt is stored, so
 * deliveries survive a restart. A process leases a delivery before it sends it.
 */
export class DeliveryQueue {
  readonly #documents: DocumentStore;
  readonly #runtime: ManagedRuntime;
  readonly #clock: Clock;
  readonly #registry: WebhookRegistry;
  readonly #sender: WebhookSender;
  readonly #pushFormats: ReadonlyMap<string, PushFormat>;
  readonly #closing: AbortSignal;
  readonly #runInBackground: (work: () => Promise<void>) => void;
  readonly #onError: (error: unknown) => void;
  readonly #timers = new Map<string, () => void>();

  constructor(options: DeliveryQueueOptions) {
    this.#documents = options.documents;
    this.#runtime = options.runtime;
    this.#clock = options.clock;
    this.#registry = options.registry;
    this.#sender = options.sender;
    this.#pushFormats = options.pushFormats;
    this.#closing = options.closing;
    this.#runInBackground = options.runInBackground;
    this.#onError = options.onError;
  }

  /** Schedules the deliveries that an earlier process left. */
  async start(): Promise<void> {
    for (const { id, value } of await this.#documents.documents({ kind: DELIVERY_KIND }))
      this.#schedule(id, parseDelivery(value).dueAt);
  }

  /** Cancels all timers. The deliveries stay stored. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  /** Schedules new deliveries, for now. */
  scheduleAll(changes: readonly DocumentChange[]): void {
    for (const { id } of changes) this.#schedule(id, this.#clock.now());
  }

  #schedule(id: string, at: number): void {
    if (this.#closing.aborted) return;
    this.#timers.get(id)?.();
    const cancel = this.#clock.at(at, () => {
      this.#timers.delete(id);
      this.#runInBackground(async () => this.#deliver(id));
    });
    this.#timers.set(id, cancel);
  }

  async #deliver(id: string): Promise<void> {
    const found = await this.#documents.document(DELIVERY_KIND, id);
    if (found === undefined) return;
    const delivery = parseDelivery(found.value);
    const now = this.#clock.now();
    if (delivery.dueAt > now) return this.#schedule(id, delivery.dueAt);
    const leased: Delivery = { ...delivery, tries: delivery.tries + 1, dueAt: now + LEASE_MS };
    // Another process may be delivering it. Check again after its lease.
    if (!(await this.#writeDelivery(id, found.version, leased)))
      return this.#schedule(id, now + LEASE_MS);
    const isDone = await this.#send(id, leased);
    // An attempt that was aborted by the close is due at once for the next process.
    const wait = this.#closing.aborted ? 0 : retryDelayMs(leased);
    if (isDone || wait === undefined) {
      await this.#writeDelivery(id, found.version + 1, undefined);
      if (leased.isLast === true)
        await this.#registry.remove(leased.workspace, id.split('/')[0] ?? '');
      return;
    }
    const dueAt = this.#clock.now() + wait;
    if (await this.#writeDelivery(id, found.version + 1, { ...leased, dueAt }))
      this.#schedule(id, dueAt);
  }

  /** Returns true if the delivery is complete or no longer needed. */
  async #send(id: string, { workspace, body, call }: Delivery): Promise<boolean> {
    const [webhookId = '', messageId = ''] = id.split('/');
    const webhook = await this.#registry.find(workspace, webhookId);
    if (webhook === undefined) return true;
    if (call !== undefined && !(await this.#isCallPending(workspace, call))) return true;
    const ended = new AbortController();
    const cancel = this.#clock.at(this.#clock.now() + RESPONSE_TIMEOUT_MS, () =>
      ended.abort(new Error(`no response within ${RESPONSE_TIMEOUT_MS} ms`)),
    );
    try {
      const secret = this.#registry.decryptSecret(workspace, webhook);
      const headers = this.#toHeaders(webhook, secret, { id: messageId, body });
      const signal = AbortSignal.any([ended.signal, this.#closing]);
      const response = await this.#sender.send(webhook.url, body, headers, signal);
      // 410 Gone unsubscribes the webhook.
      if (response.status === 410) return await this.#registry.remove(workspace, webhookId);
      if (response.status < 200 || response.status > 299)
        throw new Error(`Webhook ${webhookId} responded with status ${response.status}.`);
      if (call !== undefined && response.status !== 202)
        await this.#submitResult(workspace, call, response.body);
      return true;
    } catch (error) {
      if (!this.#closing.aborted) this.#onError(error);
      return false;
    } finally {
      cancel();
    }
  }

  #toHeaders(
    { push }: Webhook,
    secret: string,
    message: { readonly id: string; readonly body: string },
  ): Readonly<Record<string, string>> {
    if (push === undefined) return signedHeaders(secret, { ...message, at: this.#clock.now() });
    const format = this.#pushFormats.get(push.protocol);
    // It is sent when a server speaks the protocol again.
    if (format === undefined) throw new Error(`This server does not speak ${push.protocol}.`);
    return format.toHeaders(secret, push);
  }

  async #isCallPending(
    userId: string,
    { sessionId: id, callId }: NonNullable<Delivery['call']>,
  ): Promise<boolean> {
    try {
      const pending = await this.#runtime.pending({ id, userId });
      return pending.some((one) => one.callId === callId && one.needs === 'result');
    } catch (error) {
      if (isPetrichorError(error) && error.code === 'session_not_found') return false;
      throw error;
    }
  }

  async #submitResult(
    userId: string,
    { sessionId: id, callId }: NonNullable<Delivery['call']>,
    body: string,
  ): Promise<void> {
    try {
      await this.#runtime.sendEvent({ id, userId }, toToolResultEvent(callId, body));
    } catch (error) {
      // The call was answered by another sender, or no longer waits for an answer.
      const ignoredCodes = [
        'already_answered',
        'call_not_pending',
        'illegal_transition',
        'session_not_found',
      ];
      if (!isPetrichorError(error) || !ignoredCodes.includes(error.code)) throw error;
    }
  }

  async #writeDelivery(
    id: string,
    version: number,
    delivery: Delivery | undefined,
  ): Promise<boolean> {
    const value = delivery === undefined ? {} : { value: toDeliveryJson(delivery) };
    const change = { kind: DELIVERY_KIND, id, version, ...value };
    return (await this.#documents.writeDocuments([change])).ok;
  }
}
