import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, isJsonObject, newMessageId } from '../../core/index.ts';
import type { Json, Seq, SessionKey, Usage } from '../../core/index.ts';
import type {
  PendingCall,
  PendingCallChange,
  PendingCallPage,
  PendingCallPageOptions,
  Runtime,
  Session,
  SessionChangeEvent,
  SessionChangesOptions,
  SessionInspection,
  UsageOptions,
  WatchPendingOptions,
} from '../../runtime/index.ts';
import { SessionNotFoundError } from '../../store/index.ts';
import type { SessionRow, UsageTotal } from '../../store/index.ts';
import { bufferedStream } from './buffered-stream.ts';
import { toToolResult } from '../projections/content-blocks.ts';
import { toSessionEvent } from '../projections/to-session-event.ts';
import {
  IllegalTransitionError,
  ManagedSessionNotFoundError,
} from '../interface/managed-errors.ts';
import type {
  AddedEvent,
  EventBatch,
  ForkOptions,
  ManagedSession,
  Page,
  PageOptions,
  SentEvent,
  StreamedLogEvent,
  StreamOptions,
} from '../interface/managed-runtime.ts';
import { parseUserEvent } from '../parsing/parse-user-event.ts';
import type { SessionCatalog, SessionRecord } from '../catalogs/session-catalog.ts';
import type { SessionEvent } from '../interface/session-event.ts';
import type { ManagedStatus } from '../interface/session-status.ts';
import { SessionListings } from './session-listings.ts';
import { UsageTotals } from './usage-totals.ts';
import type { UserEvent } from '../interface/user-event.ts';
import { resolveCall } from './resolve-call.ts';
import { STATUS_CHANGES, toManagedStatus } from './status-changes.ts';
import type { StatusChange } from './status-changes.ts';
import { sendInput } from './send-input.ts';
import { toRootSessionId, toThreadRecord } from './thread-record.ts';

export interface ManagedSessionsOptions {
  readonly runtime: Runtime;
  readonly records: SessionCatalog;
  readonly newId: (prefix: string) => string;
  readonly maxBuffered: number;
  readonly onDelete?: (session: SessionKey) => Promise<void>;
}

/** Operations on sessions: sending events, reading, and changing their status. */
export class ManagedSessions {
  readonly #runtime: Runtime;
  readonly #records: SessionCatalog;
  readonly #newId: (prefix: string) => string;
  readonly #maxBuffered: number;
  readonly #onDelete: ManagedSessionsOptions['onDelete'];
  readonly #usage: UsageTotals;
  readonly #listings: SessionListings;

  constructor(options: ManagedSessionsOptions) {
    const { runtime, records, newId, maxBuffered, onDelete } = options;
    this.#onDelete = onDelete;
    this.#runtime = runtime;
    this.#usage = new UsageTotals(runtime.store);
    this.#listings = new SessionListings(runtime);
    this.#records = records;
    this.#newId = newId;
    this.#maxBuffered = maxBuffered;
  }

  async getSession(sessionId: string): Promise<ManagedSession> {
    const record = await this.#record(sessionId);
    return this.#toManagedSession(record, await this.#row(record));
  }

  async threads(sessionId: string): Promise<readonly ManagedSession[]> {
    const record = await this.#records.get(sessionId);
    const rows = await this.#threadRows(record);
    return rows.flatMap((row) => {
      const thread = toThreadRecord(record, row);
      return thread === undefined ? [] : [this.#toManagedSession(thread, row)];
    });
  }

  async listSessions(
    options: PageOptions & {
      readonly agentId?: string;
      readonly userId?: string;
      readonly includeArchived?: boolean;
    } = {},
  ): Promise<Page<ManagedSession>> {
    const { agentId, userId, includeArchived = true } = options;
    return this.#records.list(options, async (record) => {
      if (agentId !== undefined && record.agentId !== agentId) return undefined;
      if (userId !== undefined && record.userId !== userId) return undefined;
      const row = await this.#find(record);
      if (row === undefined) return undefined;
      const session = this.#toManagedSession(record, row);
      return session.status === 'archived' && !includeArchived ? undefined : session;
    });
  }

  async updateSession(
    sessionId: string,
    change: { readonly title?: string; readonly metadata?: Readonly<Record<string, string>> },
  ): Promise<ManagedSession> {
    const record = await this.#records.change(sessionId, change);
    const row = await this.#row(record);
    // Title and metadata are not in the session's row.
    await this.#runtime.store.touch(row.key);
    return this.#toManagedSession(record, row);
  }

  async status(sessionId: string): Promise<ManagedStatus> {
    return toManagedStatus(await this.#row(await this.#record(sessionId)));
  }

  async pending(sessionId: string): Promise<readonly PendingCall[]> {
    return (await this.#session(sessionId)).pending();
  }

  async pendingCalls(options: PendingCallPageOptions = {}): Promise<PendingCallPage> {
    return this.#listings.pendingCalls(options);
  }

  watchPendingCalls(options: WatchPendingOptions = {}): AsyncIterable<PendingCallChange> {
    return this.#listings.watchPendingCalls(options);
  }

  sessionChanges(options: SessionChangesOptions = {}): AsyncIterable<SessionChangeEvent> {
    return this.#listings.sessionChanges(options);
  }

  async usageTotals(options: UsageOptions = {}): Promise<readonly UsageTotal[]> {
    return this.#listings.usageTotals(options);
  }

  async usage(sessionId: string): Promise<Usage> {
    return this.#usage.get(await this.#row(await this.#record(sessionId)));
  }

  async sendEvent(
    sessionId: string,
    value: UserEvent | Json,
    { dedupeKey }: { readonly dedupeKey?: string } = {},
  ): Promise<SentEvent> {
    const event = parseUserEvent(value);
    const session = await this.#session(sessionId);
    const row = await this.#assertTakesEvents(session, event.type);
    return this.#send(session, row, event, dedupeKey);
  }

  eventBatch(): EventBatch {
    const batch = this.#runtime.batch();
    const sent: Promise<SentEvent>[] = [];
    return {
      add: async (sessionId, value, { dedupeKey } = {}) => {
        const event = parseUserEvent(value);
        const record = await this.#record(sessionId);
        const row = await this.#assertTakesEvents(await this.#open(record), event.type);
        const { userId: user, agentName: agent } = record;
        const session = await batch.session(sessionId, { user, agent });
        const added = await batch.add(async () => this.#send(session, row, event, dedupeKey));
        sent.push(added.done);
        return toAddedEvent(added.input);
      },
      submit: async (documents = []) => {
        const result = await batch.submit(documents);
        return result.ok ? { ok: true, sent: await Promise.all(sent) } : result;
      },
    };
  }

  async *streamEvents(
    sessionId: string,
    fromSeq?: Seq,
    options: Pick<StreamOptions, 'signal' | 'follow'> = {},
  ): AsyncGenerator<SessionEvent, void, undefined> {
    for await (const event of this.streamLog(sessionId, fromSeq, options)) {
      if (event.type === 'partial' || event.type === 'partial.reset') continue;
      const shown = toSessionEvent(event);
      if (shown !== undefined) yield shown;
    }
  }

  async *streamLog(
    sessionId: string,
    fromSeq?: Seq,
    { signal, partials = false, follow = true }: StreamOptions = {},
  ): AsyncGenerator<StreamedLogEvent, void, undefined> {
    const record = await this.#record(sessionId);
    const session = await this.#open(record);
    const row = await this.#row(record);
    const { key } = row;
    const from = fromSeq ?? row.lastSeq;
    if (!Number.isSafeInteger(from) || from < 0)
      throw new InvalidInputError('fromSeq', `must be an event's number or 0; it is ${from}.`);
    // Nothing follows the archived event, so a reader of an archived session need not wait.
    const waits = follow && toManagedStatus(row) !== 'archived';
    let last = Math.min(from, row.lastSeq);
    try {
      const events = bufferedStream({
        sessionId,
        from,
        limit: this.#maxBuffered,
        signal,
        read: (after, ended) => session.events(after, { follow: waits, signal: ended }),
        lastSeq: async () => (await this.#runtime.store.find(key))?.lastSeq ?? 0,
      });
      for await (const event of events) {
        if ('seq' in event) last = event.seq;
        else if (!partials) continue;
        yield event;
        if (event.type === 'session.archived') return;
      }
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      yield { type: 'session.deleted', seq: last };
    }
  }

  async interrupt(sessionId: string): Promise<void> {
    await this.sendEvent(sessionId, { type: 'user.interrupt' });
  }

  async pause(sessionId: string): Promise<void> {
    await this.#changeStatus(sessionId, STATUS_CHANGES.pause);
  }

  async resume(sessionId: string): Promise<void> {
    await this.#changeStatus(sessionId, STATUS_CHANGES.resume);
  }

  async archive(sessionId: string): Promise<void> {
    await this.#changeStatus(sessionId, STATUS_CHANGES.archive);
  }

  async complete(sessionId: string): Promise<void> {
    await this.#changeStatus(sessionId, STATUS_CHANGES.complete);
  }

  async deleteSession(sessionId: string): Promise<boolean> {
    // If a crash interrupts the deletion, the next runtime to open continues it. The session is hidden meanwhile.
    const begun = await this.#records.beginDelete(sessionId, async (record) =>
      (await this.#threadRows(record)).map(({ key }) => key.sessionId),
    );
    if (begun === undefined) return false;
    const { userId } = begun.record;
    await this.#runtime.delete(sessionId, { user: userId });
    for (const id of [...begun.threads, sessionId])
      await this.#onDelete?.({ appName: this.#runtime.app, userId, sessionId: id });
    await this.#records.remove(sessionId);
    return true;
  }

  async fork(
    sessionId: string,
    { upTo, id = this.#newId('session'), documents }: ForkOptions = {},
  ): Promise<ManagedSession> {
    if ((await this.#records.find(id)) !== undefined) return this.getSession(id);
    const record = await this.#records.get(sessionId);
    const session = await this.#open(record);
    const { createdAt: _, ...same } = record;
    const { updatedAt } = await session.status();
    // A copy without a record was left by a process that died. The copy itself is complete.
    const copy = await this.#find({ ...record, id });
    if ((copy?.head ?? 0) === 0) await session.fork({ id, ...omitUndefined({ upTo }) });
    const { userId } = await this.#records.add(
      { ...same, id, createdAt: updatedAt },
      { documents: documents?.(id) },
    );
    // A reader of changes may have seen the copy before its record.
    await this.#runtime.store.touch({ appName: this.#runtime.app, userId, sessionId: id });
    return this.getSession(id);
  }

  async rewind(
    sessionId: string,
    options: { readonly beforeInvocationId: string; readonly dedupeKey?: string },
  ): Promise<void> {
    const session = await this.#session(sessionId);
    const status = toManagedStatus(await session.status());
    if (status !== 'idle' && status !== 'running' && status !== 'failed')
      throw new IllegalTransitionError(sessionId, status, 'a rewind');
    await session.rewind(options);
  }

  async inspect(sessionId: string): Promise<SessionInspection> {
    const record = await this.#record(sessionId);
    // Unlike opening the session, this also finds one that cannot run.
    const found = await this.#runtime.find(record.id, { user: record.userId });
    return found ?? this.#open(record);
  }

  /** Requests a status change, and resolves when it has happened. */
  async #changeStatus(
    sessionId: string,
    { action, place, from, doneEvent }: StatusChange,
  ): Promise<void> {
    const session = await this.#session(sessionId);
    const row = await session.status();
    const status = toManagedStatus(row);
    if (!from.includes(status)) throw new IllegalTransitionError(sessionId, status, action);
    await session.inject(place, null, { dedupeKey: newMessageId() });
    for await (const event of session.events(row.lastSeq)) {
      if (event.type === doneEvent) return;
      if (event.type !== 'error' || event.code !== 'illegal_transition') continue;
      // The status had already changed.
      throw new IllegalTransitionError(sessionId, await this.status(sessionId), action);
    }
  }

  /** @throws IllegalTransitionError if the session accepts no more events */
  async #assertTakesEvents(session: Session, type: string): Promise<SessionRow> {
    const row = await session.status();
    const status = toManagedStatus(row);
    if (status === 'archived' || status === 'completed')
      throw new IllegalTransitionError(session.id, status, `sending ${type}`);
    return row;
  }

  async #send(
    session: Session,
    row: SessionRow,
    event: UserEvent,
    key: string = newMessageId(),
  ): Promise<SentEvent> {
    switch (event.type) {
      case 'user.message':
      case 'user.define_outcome':
        return sendInput(session, event, key);
      case 'user.interrupt':
        await session.interrupt();
        return { inputSeq: 0, duplicate: false };
      case 'user.tool_confirmation': {
        const { callId } = await resolveCall(this.#runtime.store, row, event.tool_use_id);
        const { deny_message: message } = event;
        const turn =
          event.result === 'allow'
            ? session.approve(callId)
            : session.deny(callId, message === undefined ? {} : { message });
        return { inputSeq: await turn.accepted, duplicate: false };
      }
      case 'user.custom_tool_result':
        return this.#answer(session, row, event.custom_tool_use_id, event);
      case 'user.tool_result':
        return this.#answer(session, row, event.tool_use_id, event);
      default:
        return event satisfies never;
    }
  }

  async #answer(
    session: Session,
    row: SessionRow,
    id: string,
    {
      content,
      is_error: isError = false,
    }: { readonly content: Parameters<typeof toToolResult>[0]; readonly is_error?: boolean },
  ): Promise<SentEvent> {
    const { callId, isKnown, mayArrive } = await resolveCall(this.#runtime.store, row, id);
    const result = toToolResult(content);
    if (!isKnown && mayArrive) return session.submitResultEarly(callId, result, { isError });
    const { accepted } = session.answer(callId, result, { isError });
    return { inputSeq: await accepted, duplicate: false };
  }

  /**
   * Reads the record of a session, or of a thread of one.
   * @throws ManagedSessionNotFoundError if the session does not exist
   */
  async #record(sessionId: string): Promise<SessionRecord> {
    const record = await this.#records.get(toRootSessionId(sessionId));
    if (record.id === sessionId) return record;
    const row = await this.#find({ ...record, id: sessionId });
    const thread = row === undefined ? undefined : toThreadRecord(record, row);
    if (thread === undefined) throw new ManagedSessionNotFoundError(sessionId);
    return thread;
  }

  async #threadRows(record: SessionRecord): Promise<readonly SessionRow[]> {
    const { id, userId } = record;
    const rows = await this.#runtime.sessions({ user: userId, parent: id });
    return rows.toSorted((one, other) => one.createdAt - other.createdAt);
  }

  async #session(sessionId: string): Promise<Session> {
    return this.#open(await this.#record(sessionId));
  }

  async #open({ id, userId, agentName }: SessionRecord): Promise<Session> {
    const session = await this.#runtime.session(id, { user: userId, agent: agentName });
    if ((await this.#records.find(toRootSessionId(id))) !== undefined) return session;
    // Deleted while it was being opened: remove what the opening created.
    await this.#runtime.delete(id, { user: userId });
    throw new ManagedSessionNotFoundError(id);
  }

  async #find({ id, userId }: SessionRecord): Promise<SessionRow | undefined> {
    return this.#runtime.store.find({ appName: this.#runtime.app, userId, sessionId: id });
  }

  async #row(record: SessionRecord): Promise<SessionRow> {
    return (await this.#find(record)) ?? (await (await this.#open(record)).status());
  }

  #toManagedSession(record: SessionRecord, row: SessionRow): ManagedSession {
    const { id, agentId, agentVersion, userId, environment, title, metadata, createdAt } = record;
    return {
      id,
      agentId,
      agentVersion,
      owner: { appName: this.#runtime.app, userId },
      status: toManagedStatus(row),
      ...omitUndefined({ environment, title, metadata }),
      createdAt,
      updatedAt: Math.max(createdAt, row.updatedAt),
      lastSeq: row.lastSeq,
    };
  }
}

function toAddedEvent(input: Json | undefined): AddedEvent {
  const { invocationId, callId } = isJsonObject(input) ? input : {};
  return omitUndefined({
    invocationId: typeof invocationId === 'string' ? invocationId : undefined,
    callId: typeof callId === 'string' ? callId : undefined,
  });
}
