import { isChildSessionId, isPetrichorError } from '../../core/index.ts';
import type { LogEvent, LogEventByType, SessionKey } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, SessionRow, Store } from '../../store/index.ts';
import { isCustomCall } from '../wire/custom-call.ts';
import type { PushFormat } from './push-format.ts';
import { toCallDelivery, toEventDelivery, toPushDelivery } from './webhook-delivery.ts';
import type { WebhookRegistry } from './webhook-registry.ts';
import type { Webhook, WebhookEventType } from './webhook.ts';

/** Document kind of the position up to which a session's log was read for webhooks. */
const CURSOR_KIND = 'webhook-cursor';
/** How far the clocks of two machines may differ. */
const MAX_CLOCK_SKEW_MS = 60_000;
const PAGE_SIZE = 100;

export interface WebhookLogReaderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: WebhookRegistry;
  /** How protocols push, by name. */
  readonly pushFormats: ReadonlyMap<string, PushFormat>;
  readonly closing: AbortSignal;
  readonly runInBackground: (work: () => Promise<void>) => void;
  /** Receives the deliveries that were written. */
  readonly onDeliveries: (changes: readonly DocumentChange[]) => void;
}

/**
 * Reads the logs of sessions and writes a delivery for each event and call that a webhook receives. Deliveries are
 * written in one transaction with the position up to which the log was read, so none is lost or written twice.
 */
export class WebhookLogReader {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #registry: WebhookRegistry;
  readonly #pushFormats: ReadonlyMap<string, PushFormat>;
  readonly #closing: AbortSignal;
  readonly #runInBackground: (work: () => Promise<void>) => void;
  readonly #onDeliveries: (changes: readonly DocumentChange[]) => void;
  readonly #readStates = new Map<string, 'once' | 'again'>();
  readonly #scannedUntil = new Map<string, number>();
  #rescanState: 'no' | 'once' | 'again' = 'no';

  constructor(options: WebhookLogReaderOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#registry = options.registry;
    this.#pushFormats = options.pushFormats;
    this.#closing = options.closing;
    this.#runInBackground = options.runInBackground;
    this.#onDeliveries = options.onDeliveries;
  }

  /** Rescans after an unspecified change by another process. Scans are serialized and coalesced. */
  rescan(): void {
    if (this.#rescanState !== 'no') {
      this.#rescanState = 'again';
      return;
    }
    this.#rescanState = 'once';
    this.#runInBackground(async () => {
      try {
        do {
          this.#rescanState = 'once';
          await this.scan();
        } while (this.#mustRescan());
      } finally {
        this.#rescanState = 'no';
      }
    });
  }

  /** Reads the new entries of a session's log. Reads of one session are serialized and coalesced. */
  scheduleRead(key: SessionKey): void {
    if (!this.#registry.workspaces.has(key.userId)) return;
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

  /** Schedules a read of the sessions that changed since the last scan; at the first scan, of all sessions. */
  async scan(): Promise<void> {
    await this.#registry.loadWorkspaces();
    for (const workspace of this.#registry.workspaces) {
      const now = this.#clock.now();
      for await (const { key, lastSeq } of this.#listChangedSessions(workspace))
        if (lastSeq > 0) this.scheduleRead(key);
      this.#scannedUntil.set(workspace, now - MAX_CLOCK_SKEW_MS);
    }
  }

  // A method, because TypeScript's control flow does not see that an await may have changed the state.
  #mustRescan(): boolean {
    return this.#rescanState === 'again' && !this.#closing.aborted;
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
    const isThread = isChildSessionId(sessionId);
    const id = `${workspace}/${sessionId}`;
    const row = await this.#store.find(key);
    const cursor = await this.#store.document(CURSOR_KIND, id);
    if (row === undefined) {
      if (cursor !== undefined)
        await this.#store.writeDocuments([{ kind: CURSOR_KIND, id, version: cursor.version }]);
      // The subscriptions to turns of a deleted session have nothing to wait for.
      for (const webhook of await this.#registry.list(workspace))
        if (webhook.push?.sessionId === sessionId)
          await this.#registry.remove(workspace, webhook.id);
      return;
    }
    const from = typeof cursor?.value === 'number' ? cursor.value : 0;
    if (row.lastSeq <= from) return;
    const webhooks = await this.#registry.list(workspace);
    const deliveries = new Map<string, DocumentChange>();
    let seq = from;
    for await (const event of this.#store.read(key, from)) {
      seq = event.seq;
      const call = await this.#findPendingCall(key, event);
      for (const webhook of webhooks) {
        if (event.at < webhook.createdAt) continue;
        if (webhook.push !== undefined) {
          const key = `${row.uid}:${seq}:${webhook.id}`;
          const change = isThread
            ? undefined
            : this.#toPush(webhook, event, { workspace, sessionId, key });
          if (change !== undefined) deliveries.set(change.id, change);
          continue;
        }
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
    this.#onDeliveries([...deliveries.values()]);
  }

  /** The message of a protocol about an event of the turn that a webhook follows. */
  #toPush(
    webhook: Webhook,
    event: LogEvent,
    {
      workspace,
      sessionId,
      key,
    }: { readonly workspace: string; readonly sessionId: string; readonly key: string },
  ): DocumentChange | undefined {
    const { push } = webhook;
    if (push === undefined || push.sessionId !== sessionId) return undefined;
    const own = 'invocationId' in event ? event.invocationId : undefined;
    if (own !== undefined && own !== push.invocationId) return undefined;
    const message = this.#pushFormats.get(push.protocol)?.toMessage(push, event);
    return message === undefined ? undefined : toPushDelivery(webhook, { workspace, key, message });
  }

  /** The call of a custom tool that starts to wait for its result with this event. */
  async #findPendingCall(
    key: SessionKey,
    event: LogEvent,
  ): Promise<LogEventByType<'tool.call'> | undefined> {
    if (event.type === 'tool.call')
      return isCustomCall(event) && event.needs !== 'approval' ? event : undefined;
    if (event.type !== 'tool.answered' || event.decision !== 'approved') return undefined;
    for await (const earlier of this.#store.read(key, 0))
      if (earlier.type === 'tool.call' && earlier.callId === event.callId)
        return isCustomCall(earlier) ? earlier : undefined;
    return undefined;
  }
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
