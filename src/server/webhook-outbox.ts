import { isPetrichorError, sha256Hex } from '../core/index.ts';
import type { Json, JsonObject, LogEvent, LogEventOf, SessionKey } from '../core/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import type { Clock } from '../net/index.ts';
import type { DocumentChange, SessionRow, Store } from '../store/index.ts';
import { toolAnswer } from './tool-answer.ts';
import type { PostWebhook } from './post-webhook.ts';
import { SecretKeyError } from './secret-box.ts';
import type { SecretBox } from './secret-box.ts';
import { signedHeaders, webhookIn, webhookJson } from './webhook.ts';
import type { Webhook, WebhookEventType } from './webhook.ts';
import { deliveryIn, deliveryJson, waitAfter } from './webhook-delivery.ts';
import type { Delivery } from './webhook-delivery.ts';
import { aboutCall } from './wire-face.ts';
import { wireEventId } from './wire-event.ts';
import { toWireTime } from './wire-schemas.ts';

const WEBHOOK = 'webhook';
const DELIVERY = 'webhook-delivery';
/** Up to where a session's log was read for its webhooks. */
const CURSOR = 'webhook-cursor';
const ANSWER_MS = 15_000;
/** A delivery whose process died is taken up by another after so long. */
const LEASE_MS = 60_000;
/** By so much the clocks of two machines may differ. */
const CLOCKS_APART_MS = 60_000;
const PAGE = 100;

export interface WebhookOutboxOptions {
  readonly store: Store;
  readonly runtime: ManagedRuntime;
  readonly clock: Clock;
  readonly post: PostWebhook;
  /** Encrypts what deliveries are signed with. */
  readonly secrets: SecretBox;
  readonly onError: (error: unknown) => void;
}

/**
 * Tells webhooks what happens. What is to be told is written in one go with how far a session's log was read for it, so
 * every event is told, also of those that happened while no server ran; when to try again is written too. A webhook may
 * hear of something twice, with the same id, and then knows that it is the same.
 */
export class WebhookOutbox {
  readonly #store: Store;
  readonly #runtime: ManagedRuntime;
  readonly #clock: Clock;
  readonly #post: PostWebhook;
  readonly #secrets: SecretBox;
  readonly #onError: (error: unknown) => void;
  readonly #closing = new AbortController();
  /** Workspaces with webhooks: nothing else is read for them. */
  readonly #workspaces = new Set<string>();
  readonly #timers = new Map<string, () => void>();
  readonly #reading = new Map<string, 'once' | 'again'>();
  readonly #busy = new Set<Promise<void>>();
  readonly #lookedAt = new Map<string, number>();
  #looking: 'no' | 'once' | 'again' = 'no';
  #unsubscribe = (): void => {};

  constructor({ store, runtime, clock, post, secrets, onError }: WebhookOutboxOptions) {
    this.#store = store;
    this.#runtime = runtime;
    this.#clock = clock;
    this.#post = post;
    this.#secrets = secrets;
    this.#onError = onError;
  }

  /** Takes up what an earlier process left. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#store.subscribe((changed) => {
      if (changed === 'any') this.#lookAround();
      else for (const key of changed) this.#changed(key);
    });
    await this.#sealSecrets();
    await this.#readChanged();
    for (const { id, value } of await this.#store.documents({ kind: DELIVERY }))
      this.#arm(id, deliveryIn(value).dueAt);
  }

  /** Nothing is sent any more; what is to be sent stays. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#unsubscribe();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await Promise.allSettled(this.#busy);
  }

  /** @throws InvalidInputError when its address cannot be used; SecretKeyError when its secret cannot be encrypted */
  async add(workspace: string, webhook: Webhook): Promise<Webhook> {
    await this.#post.check(webhook.url);
    const id = `${workspace}/${webhook.id}`;
    const sealed = { ...webhook, secret: this.#secrets.seal(webhook.secret, contextFor(id)) };
    const change = { kind: WEBHOOK, id, version: 0, value: webhookJson(sealed) };
    const written = await this.#store.writeDocuments([change]);
    this.#workspaces.add(workspace);
    if (written.ok) return webhook;
    const earlier = await this.find(workspace, webhook.id);
    if (earlier === undefined) return webhook;
    return { ...earlier, secret: this.#secrets.open(earlier.secret, contextFor(id)) };
  }

  /** Its secret is as it is kept: encrypted. */
  async find(workspace: string, id: string): Promise<Webhook | undefined> {
    const found = await this.#store.document(WEBHOOK, `${workspace}/${id}`);
    return found === undefined ? undefined : webhookIn(found.value);
  }

  async list(workspace: string): Promise<readonly Webhook[]> {
    const found = await this.#store.documents({ kind: WEBHOOK, prefix: `${workspace}/` });
    return found.map(({ value }) => webhookIn(value));
  }

  async remove(workspace: string, id: string): Promise<boolean> {
    const found = await this.#store.document(WEBHOOK, `${workspace}/${id}`);
    if (found === undefined) return false;
    const change = { kind: WEBHOOK, id: found.id, version: found.version };
    return (await this.#store.writeDocuments([change])).ok || this.remove(workspace, id);
  }

  /** Something of a session that its log does not say; said twice, it is said once. */
  async tell(workspace: string, sessionId: string, type: WebhookEventType): Promise<void> {
    const at = this.#clock.now();
    const deliveries = (await this.list(workspace))
      .filter(({ events }) => events.includes(type))
      .map((webhook) => eventFor(webhook, { workspace, sessionId, type, at, about: type }));
    await Promise.all(deliveries.map(async (change) => this.#store.writeDocuments([change])));
    this.#armAll(deliveries);
  }

  /** Encrypts with the present key what was kept as it is, or under an earlier key. */
  async #sealSecrets(): Promise<void> {
    for (const { id, version, value } of await this.#store.documents({ kind: WEBHOOK })) {
      const webhook = webhookIn(value);
      try {
        if (this.#secrets.isCurrent(webhook.secret)) continue;
        const secret = this.#secrets.open(webhook.secret, contextFor(id));
        const sealed = { ...webhook, secret: this.#secrets.seal(secret, contextFor(id)) };
        // Changed meanwhile by another process: that one has sealed it.
        await this.#store.writeDocuments([
          { kind: WEBHOOK, id, version, value: webhookJson(sealed) },
        ]);
      } catch (error) {
        if (!(error instanceof SecretKeyError)) throw error;
        // It stays as it is: others still work, and this one can be removed.
        this.#onError(error);
      }
    }
  }

  #changed(key: SessionKey): void {
    if (!this.#workspaces.has(key.userId)) return;
    const name = `${key.userId}/${key.sessionId}`;
    if (this.#reading.has(name)) {
      this.#reading.set(name, 'again');
      return;
    }
    this.#reading.set(name, 'once');
    this.#run(async () => {
      try {
        do {
          this.#reading.set(name, 'once');
          await this.#read(key);
        } while (this.#reading.get(name) === 'again');
      } finally {
        this.#reading.delete(name);
      }
    });
  }

  /** Another process did something, and nobody says what: one look at a time, and one after the last that was heard. */
  #lookAround(): void {
    if (this.#looking !== 'no') {
      this.#looking = 'again';
      return;
    }
    this.#looking = 'once';
    this.#run(async () => {
      try {
        do {
          this.#looking = 'once';
          await this.#readChanged();
        } while (this.#isAskedAgain());
      } finally {
        this.#looking = 'no';
      }
    });
  }

  // Read anew each time: the flow of control does not see that an await may have let it change.
  #isAskedAgain(): boolean {
    return this.#looking === 'again' && !this.#closing.signal.aborted;
  }

  /** Sessions that changed since they were looked through the last time; all of them the first time. */
  async #readChanged(): Promise<void> {
    const webhooks = await this.#store.documents({ kind: WEBHOOK });
    for (const { id } of webhooks) this.#workspaces.add(id.slice(0, id.indexOf('/')));
    for (const workspace of this.#workspaces) {
      const now = this.#clock.now();
      for await (const { key, lastSeq } of this.#changedSince(workspace))
        if (lastSeq > 0) this.#changed(key);
      this.#lookedAt.set(workspace, now - CLOCKS_APART_MS);
    }
  }

  async *#changedSince(userId: string): AsyncGenerator<SessionRow, void, undefined> {
    const since = this.#lookedAt.get(userId) ?? -Infinity;
    let after: SessionKey | undefined;
    for (;;) {
      // Newest change first.
      const rows = await this.#page(userId, after);
      if (rows === undefined) {
        // The one that the page began after was deleted meanwhile.
        after = undefined;
        continue;
      }
      for (const row of rows) {
        if (row.updatedAt < since) return;
        yield row;
      }
      after = rows.at(-1)?.key;
      if (rows.length < PAGE || after === undefined) return;
    }
  }

  async #page(
    userId: string,
    after: SessionKey | undefined,
  ): Promise<readonly SessionRow[] | undefined> {
    try {
      const more = after !== undefined && { after };
      return await this.#store.list({ userId, limit: PAGE, ...more });
    } catch (error) {
      if (isPetrichorError(error) && error.code === 'session_not_found') return undefined;
      throw error;
    }
  }

  async #read(key: SessionKey): Promise<void> {
    const { userId: workspace, sessionId } = key;
    // A thread of a session calls tools too; what becomes of it is told by its session.
    const isThread = sessionId.includes('/');
    const id = `${workspace}/${sessionId}`;
    const row = await this.#store.find(key);
    const cursor = await this.#store.document(CURSOR, id);
    if (row === undefined) {
      if (cursor !== undefined)
        await this.#store.writeDocuments([{ kind: CURSOR, id, version: cursor.version }]);
      return;
    }
    const from = typeof cursor?.value === 'number' ? cursor.value : 0;
    if (row.lastSeq <= from) return;
    const webhooks = await this.list(workspace);
    const deliveries = new Map<string, DocumentChange>();
    let seq = from;
    for await (const event of this.#store.read(key, from)) {
      seq = event.seq;
      const call = await this.#callIn(key, event);
      for (const webhook of webhooks) {
        if (event.at < webhook.createdAt) continue;
        const changes = [
          ...(isThread ? [] : typesOf(event))
            .filter((type) => webhook.events.includes(type))
            .map((type) =>
              eventFor(webhook, {
                workspace,
                sessionId,
                type,
                at: event.at,
                about: `${row.uid}:${seq}`,
              }),
            ),
          ...(call !== undefined && webhook.tools.includes(call.name)
            ? [callFor(webhook, { workspace, sessionId, uid: row.uid, at: event.at, call })]
            : []),
        ];
        for (const change of changes) deliveries.set(change.id, change);
      }
    }
    const written = await this.#store.writeDocuments([
      { kind: CURSOR, id, version: cursor?.version ?? 0, value: seq },
      ...deliveries.values(),
    ]);
    // Another process read it: what it found is in its hands, and in ours when it fails.
    if (!written.ok) return this.#read(key);
    this.#armAll([...deliveries.values()]);
  }

  /** The call of a custom tool that waits for its result from here on. */
  async #callIn(key: SessionKey, event: LogEvent): Promise<LogEventOf<'tool.call'> | undefined> {
    if (event.type === 'tool.call')
      return event.origin?.kind === 'custom' && event.needs !== 'approval' ? event : undefined;
    if (event.type !== 'tool.answered' || event.decision !== 'approved') return undefined;
    for await (const earlier of this.#store.read(key, 0))
      if (earlier.type === 'tool.call' && earlier.callId === event.callId)
        return earlier.origin?.kind === 'custom' ? earlier : undefined;
    return undefined;
  }

  #armAll(changes: readonly DocumentChange[]): void {
    for (const { id } of changes) this.#arm(id, this.#clock.now());
  }

  #arm(id: string, at: number): void {
    if (this.#closing.signal.aborted) return;
    this.#timers.get(id)?.();
    const cancel = this.#clock.at(at, () => {
      this.#timers.delete(id);
      this.#run(async () => this.#deliver(id));
    });
    this.#timers.set(id, cancel);
  }

  async #deliver(id: string): Promise<void> {
    const found = await this.#store.document(DELIVERY, id);
    if (found === undefined) return;
    const delivery = deliveryIn(found.value);
    const now = this.#clock.now();
    if (delivery.dueAt > now) return this.#arm(id, delivery.dueAt);
    const taken: Delivery = { ...delivery, tries: delivery.tries + 1, dueAt: now + LEASE_MS };
    // Another process may be at it: then it is due again when that one has failed.
    if (!(await this.#write(id, found.version, taken))) return this.#arm(id, now + LEASE_MS);
    const isDone = await this.#attempt(id, taken);
    // What was cut short by the end of this process is due again soon, for whoever comes next.
    const wait = this.#closing.signal.aborted ? 0 : waitAfter(taken);
    if (isDone || wait === undefined) {
      await this.#write(id, found.version + 1, undefined);
      return;
    }
    const dueAt = this.#clock.now() + wait;
    if (await this.#write(id, found.version + 1, { ...taken, dueAt })) this.#arm(id, dueAt);
  }

  /** True when there is nothing more to do for it. */
  async #attempt(id: string, { workspace, body, call }: Delivery): Promise<boolean> {
    const [webhookId = '', messageId = ''] = id.split('/');
    const webhook = await this.find(workspace, webhookId);
    if (webhook === undefined) return true;
    if (call !== undefined && !(await this.#waits(call))) return true;
    const ended = new AbortController();
    const cancel = this.#clock.at(this.#clock.now() + ANSWER_MS, () =>
      ended.abort(new Error('it did not answer in time')),
    );
    try {
      const secret = this.#secrets.open(webhook.secret, contextFor(`${workspace}/${webhookId}`));
      const headers = signedHeaders(secret, {
        id: messageId,
        at: this.#clock.now(),
        body,
      });
      const signal = AbortSignal.any([ended.signal, this.#closing.signal]);
      const answer = await this.#post.post(webhook.url, body, headers, signal);
      // Gone, and it says so: it is told nothing any more.
      if (answer.status === 410) return await this.remove(workspace, webhookId);
      if (answer.status < 200 || answer.status > 299)
        throw new Error(`Webhook ${webhookId} answered ${answer.status}.`);
      if (call !== undefined && answer.status !== 202) await this.#answer(call, answer.body);
      return true;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#onError(error);
      return false;
    } finally {
      cancel();
    }
  }

  async #waits({ sessionId, callId }: NonNullable<Delivery['call']>): Promise<boolean> {
    try {
      const pending = await this.#runtime.pending(sessionId);
      return pending.some((one) => one.callId === callId && one.needs === 'result');
    } catch (error) {
      if (isPetrichorError(error) && error.code === 'session_not_found') return false;
      throw error;
    }
  }

  async #answer({ sessionId, callId }: NonNullable<Delivery['call']>, body: string): Promise<void> {
    try {
      await this.#runtime.sendEvent(sessionId, toolAnswer(callId, body));
    } catch (error) {
      // Somebody else's answer stands, or nobody waits for one any more.
      const isOver = [
        'already_answered',
        'call_not_pending',
        'illegal_transition',
        'session_not_found',
      ];
      if (!isPetrichorError(error) || !isOver.includes(error.code)) throw error;
    }
  }

  async #write(id: string, version: number, delivery: Delivery | undefined): Promise<boolean> {
    const value = delivery === undefined ? {} : { value: deliveryJson(delivery) };
    const change = { kind: DELIVERY, id, version, ...value };
    return (await this.#store.writeDocuments([change])).ok;
  }

  #run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#onError(error);
      })
      .finally(() => this.#busy.delete(running));
    this.#busy.add(running);
  }
}

/** What a webhook's secret belongs to. */
function contextFor(id: string): string {
  return `${WEBHOOK}/${id}`;
}

interface About {
  readonly workspace: string;
  readonly sessionId: string;
  readonly at: number;
}

function eventFor(
  webhook: Webhook,
  {
    workspace,
    sessionId,
    type,
    at,
    about,
  }: About & { readonly type: string; readonly about: string },
): DocumentChange {
  const id = `whev_${sha256Hex(`${sessionId}:${about}:${type}`).slice(0, 24)}`;
  const data = { type, id: sessionId, organization_id: 'local', workspace_id: workspace };
  const body: JsonObject = { id, type: 'event', created_at: toWireTime(at), data };
  return deliveryOf(webhook, id, { workspace, body: JSON.stringify(body), dueAt: 0, tries: 0 });
}

function callFor(
  webhook: Webhook,
  {
    workspace,
    sessionId,
    uid,
    at,
    call,
  }: About & { readonly uid: string; readonly call: LogEventOf<'tool.call'> },
): DocumentChange {
  const { callId, name, args } = call;
  const eventId = wireEventId(uid, aboutCall(callId));
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
  return deliveryOf(webhook, id, {
    workspace,
    body: JSON.stringify(body),
    dueAt: 0,
    tries: 0,
    call: { sessionId, callId },
  });
}

function deliveryOf({ id }: Webhook, message: string, delivery: Delivery): DocumentChange {
  const value: Json = deliveryJson(delivery);
  return { kind: DELIVERY, id: `${id}/${message}`, version: 0, value };
}

function typesOf(event: LogEvent): readonly WebhookEventType[] {
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
