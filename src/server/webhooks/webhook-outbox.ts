import { isPetrichorError, sha256Hex } from '../../core/index.ts';
import type { Json, JsonObject, LogEvent, LogEventByType, SessionKey } from '../../core/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, SessionRow, Store } from '../../store/index.ts';
import { toToolResultEvent } from './webhook-tool-result.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { SecretKeyError } from './secret-box.ts';
import type { SecretBox } from './secret-box.ts';
import { signedHeaders, parseWebhook, toWebhookJson } from './webhook.ts';
import type { Webhook, WebhookEventType } from './webhook.ts';
import { parseDelivery, toDeliveryJson, retryDelayMs } from './webhook-delivery.ts';
import type { Delivery } from './webhook-delivery.ts';
import { callKey } from '../wire/event-projection.ts';
import { wireEventId } from '../wire/wire-event.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

const WEBHOOK_KIND = 'webhook';
const DELIVERY_KIND = 'webhook-delivery';
/** Document kind of the position up to which a session's log was read for webhooks. */
const CURSOR_KIND = 'webhook-cursor';
const RESPONSE_TIMEOUT_MS = 15_000;
/** After this time a delivery whose process died is taken over by another process. */
const LEASE_MS = 60_000;
/** How far the clocks of two machines may differ. */
const MAX_CLOCK_SKEW_MS = 60_000;
const PAGE_SIZE = 100;

export interface WebhookOutboxOptions {
  readonly store: Store;
  readonly runtime: ManagedRuntime;
  readonly clock: Clock;
  readonly sender: WebhookSender;
  /** Encrypts the signing secrets. */
  readonly secrets: SecretBox;
  readonly onError: (error: unknown) => void;
}

/**
 * Delivers events of sessions to webhooks. Deliveries are written in one transaction with the position up to which a
 * session's log was read. Every event is therefore delivered, also one that happened while no server ran. The time of
 * the next attempt is stored, too. A webhook may receive a message twice, with the same id.
 */
export class WebhookOutbox {
  readonly #store: Store;
  readonly #runtime: ManagedRuntime;
  readonly #clock: Clock;
  readonly #sender: WebhookSender;
  readonly #secrets: SecretBox;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  /** Workspaces with webhooks. Sessions of other workspaces are not read. */
  readonly #workspaces = new Set<string>();
  readonly #timers = new Map<string, () => void>();
  readonly #readStates = new Map<string, 'once' | 'again'>();
  readonly #running = new Set<Promise<void>>();
  readonly #scannedUntil = new Map<string, number>();
  #rescanState: 'no' | 'once' | 'again' = 'no';
  #unsubscribe = (): void => {};

  constructor({ store, runtime, clock, sender, secrets, onError }: WebhookOutboxOptions) {
    this.#store = store;
    this.#runtime = runtime;
    this.#clock = clock;
    this.#sender = sender;
    this.#secrets = secrets;
    this.#onError = onError;
  }

  /** Resumes what an earlier process left undone. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#store.subscribe((changed) => {
      if (changed === 'any') this.#rescan();
      else for (const key of changed) this.#scheduleRead(key);
    });
    await this.#reencryptSecrets();
    await this.#scanChangedSessions();
    for (const { id, value } of await this.#store.documents({ kind: DELIVERY_KIND }))
      this.#scheduleDelivery(id, parseDelivery(value).dueAt);
  }

  /** Stops sending. Undelivered messages stay stored. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#unsubscribe();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await Promise.allSettled(this.#running);
  }

  /**
   * Adds a webhook, or returns the one that exists under its id.
   * @throws InvalidInputError when the URL is not allowed; SecretKeyError when the secret cannot be encrypted
   */
  async add(workspace: string, webhook: Webhook): Promise<Webhook> {
    await this.#sender.assertAllowed(webhook.url);
    const id = `${workspace}/${webhook.id}`;
    const encrypted = {
      ...webhook,
      secret: this.#secrets.encrypt(webhook.secret, secretContext(id)),
    };
    const change = { kind: WEBHOOK_KIND, id, version: 0, value: toWebhookJson(encrypted) };
    const written = await this.#store.writeDocuments([change]);
    this.#workspaces.add(workspace);
    if (written.ok) return webhook;
    const earlier = await this.find(workspace, webhook.id);
    if (earlier === undefined) return webhook;
    return { ...earlier, secret: this.#secrets.decrypt(earlier.secret, secretContext(id)) };
  }

  /** Finds a webhook. Its secret is encrypted. */
  async find(workspace: string, id: string): Promise<Webhook | undefined> {
    const found = await this.#store.document(WEBHOOK_KIND, `${workspace}/${id}`);
    return found === undefined ? undefined : parseWebhook(found.value);
  }

  async list(workspace: string): Promise<readonly Webhook[]> {
    const found = await this.#store.documents({ kind: WEBHOOK_KIND, prefix: `${workspace}/` });
    return found.map(({ value }) => parseWebhook(value));
  }

  async remove(workspace: string, id: string): Promise<boolean> {
    const found = await this.#store.document(WEBHOOK_KIND, `${workspace}/${id}`);
    if (found === undefined) return false;
    const change = { kind: WEBHOOK_KIND, id: found.id, version: found.version };
    return (await this.#store.writeDocuments([change])).ok || this.remove(workspace, id);
  }

  /** Publishes an event that is not in the session's log. A repetition has no effect. */
  async publish(workspace: string, sessionId: string, type: WebhookEventType): Promise<void> {
    const at = this.#clock.now();
    const deliveries = (await this.list(workspace))
      .filter(({ events }) => events.includes(type))
      .map((webhook) => toEventDelivery(webhook, { workspace, sessionId, type, at, key: type }));
    await Promise.all(deliveries.map(async (change) => this.#store.writeDocuments([change])));
    this.#scheduleDeliveries(deliveries);
  }

  /** Encrypts with the current key the secrets that are not encrypted, or encrypted with an earlier key. */
  async #reencryptSecrets(): Promise<void> {
    for (const { id, version, value } of await this.#store.documents({ kind: WEBHOOK_KIND })) {
      const webhook = parseWebhook(value);
      try {
        if (this.#secrets.isCurrent(webhook.secret)) continue;
        const secret = this.#secrets.decrypt(webhook.secret, secretContext(id));
        const encrypted = { ...webhook, secret: this.#secrets.encrypt(secret, secretContext(id)) };
        // If the write fails, another process has encrypted the secret meanwhile.
        await this.#store.writeDocuments([
          { kind: WEBHOOK_KIND, id, version, value: toWebhookJson(encrypted) },
        ]);
      } catch (error) {
        if (!(error instanceof SecretKeyError)) throw error;
        // The other webhooks still work, and this one can be removed.
        this.#onError(error);
      }
    }
  }

  #scheduleRead(key: SessionKey): void {
    if (!this.#workspaces.has(key.userId)) return;
    const name = `${key.userId}/${key.sessionId}`;
    if (this.#readStates.has(name)) {
      this.#readStates.set(name, 'again');
      return;
    }
    this.#readStates.set(name, 'once');
    this.#runInBackground(async () => {
      try {
        do {
          this.#readStates.set(name, 'once');
          await this.#readLog(key);
        } while (this.#readStates.get(name) === 'again');
      } finally {
        this.#readStates.delete(name);
      }
    });
  }

  /** Rescans after an unspecified change by another process. Scans are serialized and coalesced. */
  #rescan(): void {
    if (this.#rescanState !== 'no') {
      this.#rescanState = 'again';
      return;
    }
    this.#rescanState = 'once';
    this.#runInBackground(async () => {
      try {
        do {
          this.#rescanState = 'once';
          await this.#scanChangedSessions();
        } while (this.#mustRescan());
      } finally {
        this.#rescanState = 'no';
      }
    });
  }

  // A method, because TypeScript's control flow does not see that an await may have changed the state.
  #mustRescan(): boolean {
    return this.#rescanState === 'again' && !this.#closing.signal.aborted;
  }

  /** Schedules a read of the sessions that changed since the last scan; at the first scan, of all sessions. */
  async #scanChangedSessions(): Promise<void> {
    const webhooks = await this.#store.documents({ kind: WEBHOOK_KIND });
    for (const { id } of webhooks) this.#workspaces.add(id.slice(0, id.indexOf('/')));
    for (const workspace of this.#workspaces) {
      const now = this.#clock.now();
      for await (const { key, lastSeq } of this.#listChangedSessions(workspace))
        if (lastSeq > 0) this.#scheduleRead(key);
      this.#scannedUntil.set(workspace, now - MAX_CLOCK_SKEW_MS);
    }
  }

  async *#listChangedSessions(userId: string): AsyncGenerator<SessionRow, void, undefined> {
    const since = this.#scannedUntil.get(userId) ?? -Infinity;
    let after: SessionKey | undefined;
    for (;;) {
      // The most recently changed come first.
      const rows = await this.#listPage(userId, after);
      if (rows === undefined) {
        // The session that the page starts after was deleted meanwhile. Start again.
        after = undefined;
        continue;
      }
      for (const row of rows) {
        if (row.updatedAt < since) return;
        yield row;
      }
      after = rows.at(-1)?.key;
      if (rows.length < PAGE_SIZE || after === undefined) return;
    }
  }

  async #listPage(
    userId: string,
    after: SessionKey | undefined,
  ): Promise<readonly SessionRow[] | undefined> {
    try {
      const cursor = after !== undefined && { after };
      return await this.#store.list({ userId, limit: PAGE_SIZE, ...cursor });
    } catch (error) {
      if (isPetrichorError(error) && error.code === 'session_not_found') return undefined;
      throw error;
    }
  }

  async #readLog(key: SessionKey): Promise<void> {
    const { userId: workspace, sessionId } = key;
    // Threads call tools, too, but events are published for their session only.
    const isThread = sessionId.includes('/');
    const id = `${workspace}/${sessionId}`;
    const row = await this.#store.find(key);
    const cursor = await this.#store.document(CURSOR_KIND, id);
    if (row === undefined) {
      if (cursor !== undefined)
        await this.#store.writeDocuments([{ kind: CURSOR_KIND, id, version: cursor.version }]);
      return;
    }
    const from = typeof cursor?.value === 'number' ? cursor.value : 0;
    if (row.lastSeq <= from) return;
    const webhooks = await this.list(workspace);
    const deliveries = new Map<string, DocumentChange>();
    let seq = from;
    for await (const event of this.#store.read(key, from)) {
      seq = event.seq;
      const call = await this.#findPendingCall(key, event);
      for (const webhook of webhooks) {
        if (event.at < webhook.createdAt) continue;
        const changes = [
          ...(isThread ? [] : toWebhookEventTypes(event))
            .filter((type) => webhook.events.includes(type))
            .map((type) =>
              toEventDelivery(webhook, {
                workspace,
                sessionId,
                type,
                at: event.at,
                key: `${row.uid}:${seq}`,
              }),
            ),
          ...(call !== undefined && webhook.tools.includes(call.name)
            ? [toCallDelivery(webhook, { workspace, sessionId, uid: row.uid, at: event.at, call })]
            : []),
        ];
        for (const change of changes) deliveries.set(change.id, change);
      }
    }
    const written = await this.#store.writeDocuments([
      { kind: CURSOR_KIND, id, version: cursor?.version ?? 0, value: seq },
      ...deliveries.values(),
    ]);
    // Another process read the same events. Read on from where it stopped.
    if (!written.ok) return this.#readLog(key);
    this.#scheduleDeliveries([...deliveries.values()]);
  }

  /** The call of a custom tool that starts to wait for its result with this event. */
  async #findPendingCall(
    key: SessionKey,
    event: LogEvent,
  ): Promise<LogEventByType<'tool.call'> | undefined> {
    if (event.type === 'tool.call')
      return event.origin?.kind === 'custom' && event.needs !== 'approval' ? event : undefined;
    if (event.type !== 'tool.answered' || event.decision !== 'approved') return undefined;
    for await (const earlier of this.#store.read(key, 0))
      if (earlier.type === 'tool.call' && earlier.callId === event.callId)
        return earlier.origin?.kind === 'custom' ? earlier : undefined;
    return undefined;
  }

  #scheduleDeliveries(changes: readonly DocumentChange[]): void {
    for (const { id } of changes) this.#scheduleDelivery(id, this.#clock.now());
  }

  #scheduleDelivery(id: string, at: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timers.get(id)?.();
    const cancel = this.#clock.at(at, () => {
      this.#timers.delete(id);
      this.#runInBackground(async () => this.#deliver(id));
    });
    this.#timers.set(id, cancel);
  }

  async #deliver(id: string): Promise<void> {
    const found = await this.#store.document(DELIVERY_KIND, id);
    if (found === undefined) return;
    const delivery = parseDelivery(found.value);
    const now = this.#clock.now();
    if (delivery.dueAt > now) return this.#scheduleDelivery(id, delivery.dueAt);
    const leased: Delivery = { ...delivery, tries: delivery.tries + 1, dueAt: now + LEASE_MS };
    // Another process may be delivering it. Check again after its lease.
    if (!(await this.#writeDelivery(id, found.version, leased)))
      return this.#scheduleDelivery(id, now + LEASE_MS);
    const isDone = await this.#send(id, leased);
    // An attempt that was aborted by the close is due at once for the next process.
    const wait = this.#closing.signal.aborted ? 0 : retryDelayMs(leased);
    if (isDone || wait === undefined) {
      await this.#writeDelivery(id, found.version + 1, undefined);
      return;
    }
    const dueAt = this.#clock.now() + wait;
    if (await this.#writeDelivery(id, found.version + 1, { ...leased, dueAt }))
      this.#scheduleDelivery(id, dueAt);
  }

  /** Returns true if the delivery is complete or no longer needed. */
  async #send(id: string, { workspace, body, call }: Delivery): Promise<boolean> {
    const [webhookId = '', messageId = ''] = id.split('/');
    const webhook = await this.find(workspace, webhookId);
    if (webhook === undefined) return true;
    if (call !== undefined && !(await this.#isCallPending(call))) return true;
    const ended = new AbortController();
    const cancel = this.#clock.at(this.#clock.now() + RESPONSE_TIMEOUT_MS, () =>
      ended.abort(new Error(`no response within ${RESPONSE_TIMEOUT_MS} ms`)),
    );
    try {
      const secret = this.#secrets.decrypt(
        webhook.secret,
        secretContext(`${workspace}/${webhookId}`),
      );
      const headers = signedHeaders(secret, {
        id: messageId,
        at: this.#clock.now(),
        body,
      });
      const signal = AbortSignal.any([ended.signal, this.#closing.signal]);
      const response = await this.#sender.send(webhook.url, body, headers, signal);
      // 410 Gone unsubscribes the webhook.
      if (response.status === 410) return await this.remove(workspace, webhookId);
      if (response.status < 200 || response.status > 299)
        throw new Error(`Webhook ${webhookId} responded with status ${response.status}.`);
      if (call !== undefined && response.status !== 202)
        await this.#submitResult(call, response.body);
      return true;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#onError(error);
      return false;
    } finally {
      cancel();
    }
  }

  async #isCallPending({ sessionId, callId }: NonNullable<Delivery['call']>): Promise<boolean> {
    try {
      const pending = await this.#runtime.pending(sessionId);
      return pending.some((one) => one.callId === callId && one.needs === 'result');
    } catch (error) {
      if (isPetrichorError(error) && error.code === 'session_not_found') return false;
      throw error;
    }
  }

  async #submitResult(
    { sessionId, callId }: NonNullable<Delivery['call']>,
    body: string,
  ): Promise<void> {
    try {
      await this.#runtime.sendEvent(sessionId, toToolResultEvent(callId, body));
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
    return (await this.#store.writeDocuments([change])).ok;
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

/** Binds an encrypted secret to its webhook. */
function secretContext(id: string): string {
  return `${WEBHOOK_KIND}/${id}`;
}

interface DeliverySubject {
  readonly workspace: string;
  readonly sessionId: string;
  readonly at: number;
}

function toEventDelivery(
  webhook: Webhook,
  {
    workspace,
    sessionId,
    type,
    at,
    key,
  }: DeliverySubject & { readonly type: string; readonly key: string },
): DocumentChange {
  const id = `whev_${sha256Hex(`${sessionId}:${key}:${type}`).slice(0, 24)}`;
  const data = { type, id: sessionId, organization_id: 'local', workspace_id: workspace };
  const body: JsonObject = { id, type: 'event', created_at: toWireTime(at), data };
  return toDeliveryInsertion(webhook, id, {
    workspace,
    body: JSON.stringify(body),
    dueAt: 0,
    tries: 0,
  });
}

function toCallDelivery(
  webhook: Webhook,
  {
    workspace,
    sessionId,
    uid,
    at,
    call,
  }: DeliverySubject & { readonly uid: string; readonly call: LogEventByType<'tool.call'> },
): DocumentChange {
  const { callId, name, args } = call;
  const eventId = wireEventId(uid, callKey(callId));
  const id = `whcall_${eventId.slice('sevt_'.length)}`;
  const body: JsonObject = {
    id,
    type: 'tool_call',
    created_at: toWireTime(at),
    data: {
      type: 'agent.custom_tool_use',
      id: eventId,
      session_id: sessionId.split('/')[0] ?? sessionId,
      workspace_id: workspace,
      name,
      input: args,
    },
  };
  return toDeliveryInsertion(webhook, id, {
    workspace,
    body: JSON.stringify(body),
    dueAt: 0,
    tries: 0,
    call: { sessionId, callId },
  });
}

function toDeliveryInsertion({ id }: Webhook, message: string, delivery: Delivery): DocumentChange {
  const value: Json = toDeliveryJson(delivery);
  return { kind: DELIVERY_KIND, id: `${id}/${message}`, version: 0, value };
}

function toWebhookEventTypes(event: LogEvent): readonly WebhookEventType[] {
  switch (event.type) {
    case 'turn.started':
    case 'turn.resumed':
      return ['session.status_run_started'];
    case 'turn.waiting':
      return ['session.status_idled', 'session.requires_action'];
    case 'turn.ended':
      return ['session.status_idled'];
    case 'turn.rescheduled':
      return ['session.status_rescheduled'];
    case 'outcome.ended':
      return ['session.outcome_evaluation_ended'];
    case 'session.completed':
      return ['session.status_terminated'];
    case 'session.archived':
      return ['session.status_terminated', 'session.archived'];
    default:
      return [];
  }
}
