import { isClosedStatus, omitUndefined } from '../../core/internal.ts';
import {
  canonicalJson,
  checkOptions,
  InvalidInputError,
  isJsonObject,
  newMessageId,
} from '../../core/index.ts';
import type { Json, Seq, SessionKey, Usage } from '../../core/index.ts';
import { IllegalTransitionError } from '../../runtime/index.ts';
import type {
  InterruptOptions,
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
import type { CreationPosition, SessionRow, UsageTotal } from '../../store/index.ts';
import { BatchSessions } from './batch-sessions.ts';
import { bufferedStream } from './buffered-stream.ts';
import { toToolResult } from '../projections/content-blocks.ts';
import { toSessionEvent } from '../projections/to-session-event.ts';
import { ignoreMissingSession } from '../interface/managed-errors.ts';
import { DELETE_SESSION_OPTIONS } from '../interface/managed-runtime.ts';
import type {
  AddedEvent,
  DeleteSessionOptions,
  EventBatch,
  ForkOptions,
  ManagedSession,
  Page,
  PageOptions,
  SentEvent,
  SessionRef,
  StreamedLogEvent,
  StreamOptions,
} from '../interface/managed-runtime.ts';
import { parseUserEvent } from '../parsing/parse-user-event.ts';
import type { AgentNames } from '../catalogs/agent-names.ts';
import { paginate } from '../catalogs/paginate.ts';
import type { ListedEntry } from '../catalogs/paginate.ts';
import type { SessionCatalog, SessionRecord } from '../catalogs/session-catalog.ts';
import type { SessionEvent } from '../interface/session-event.ts';
import { toManagedStatus } from '../interface/session-status.ts';
import type { ManagedStatus } from '../interface/session-status.ts';
import { parseListCursor, toListCursor } from './list-cursor.ts';
import { SessionListings } from './session-listings.ts';
import { UsageTotals } from './usage-totals.ts';
import type { UserEvent } from '../interface/user-event.ts';
import { resolveCall } from './resolve-call.ts';
import { sendInput } from './send-input.ts';
import { SessionDeletion } from './session-deletion.ts';
import { SessionLookup } from './session-lookup.ts';
import type { FoundSession } from './session-lookup.ts';

export interface ManagedSessionsOptions {
  readonly runtime: Runtime;
  readonly records: SessionCatalog;
  readonly names: AgentNames;
  readonly newId: (prefix: string) => string;
  readonly maxBuffered: number;
  readonly onDelete?: (session: SessionKey) => Promise<void>;
}

/** Operations on sessions: sending events, reading, and changing their status. */
export class ManagedSessions {
  readonly #runtime: Runtime;
  readonly #records: SessionCatalog;
  readonly #lookup: SessionLookup;
  readonly #newId: (prefix: string) => string;
  readonly #maxBuffered: number;
  readonly #deletion: SessionDeletion;
  readonly #usage: UsageTotals;
  readonly #listings: SessionListings;
  /** What was found for a session that a caller has. */
  readonly #read = new WeakMap<
    object,
    { readonly found: FoundSession; readonly row: SessionRow }
  >();

  constructor(options: ManagedSessionsOptions) {
    const { runtime, records, names, newId, maxBuffered, onDelete } = options;
    this.#runtime = runtime;
    this.#usage = new UsageTotals(runtime.store);
    this.#listings = new SessionListings(runtime, names);
    this.#records = records;
    this.#lookup = new SessionLookup({ runtime, records, names });
    this.#deletion = new SessionDeletion({ runtime, records, lookup: this.#lookup, onDelete });
    this.#newId = newId;
    this.#maxBuffered = maxBuffered;
  }

  async getSession(ref: SessionRef): Promise<ManagedSession> {
    const found = await this.#lookup.find(ref);
    const row = await this.#lookup.getRow(found);
    const session = this.#toManagedSession(found.record, row);
    this.#read.set(session, { found, row });
    return session;
  }

  async threads(ref: SessionRef): Promise<readonly ManagedSession[]> {
    const { record } = await this.#lookup.findRoot(ref);
    const threads = await this.#lookup.listThreads(record);
    return threads.map((thread) => this.#toManagedSession(thread.record, thread.row));
  }

  async listSessions(
    options: PageOptions & {
      readonly agentId?: string;
      readonly userId?: string;
      readonly includeArchived?: boolean;
    } = {},
  ): Promise<Page<ManagedSession>> {
    const { agentId, userId, includeArchived = true } = options;
    const toItem = async (row: SessionRow): Promise<ManagedSession | undefined> => {
      if (!includeArchived && toManagedStatus(row) === 'archived') return undefined;
      const found = await this.#lookup.findByRow(row);
      if (found === undefined) return undefined;
      if (agentId !== undefined && found.record.agentId !== agentId) return undefined;
      return this.#toManagedSession(found.record, row);
    };
    return paginate(options, async ({ after, limit }) => {
      const position = after === undefined ? undefined : await this.#findPosition(after);
      const rows = await this.#runtime.sessions({
        order: 'created',
        limit,
        ...omitUndefined({ user: userId, after: position }),
      });
      return Promise.all(
        rows.map(async (row): Promise<ListedEntry<ManagedSession>> => ({
          id: toListCursor(row),
          item: await toItem(row),
        })),
      );
    });
  }

  /**
   * The position of a cursor. A cursor of an earlier release is the id of a session.
   * @throws InvalidInputError
   */
  async #findPosition(cursor: string): Promise<CreationPosition> {
    const position = parseListCursor(cursor, this.#runtime.app);
    if (position !== undefined) return position;
    const record = await this.#records.findAny(cursor);
    const row = record === undefined ? undefined : await this.#lookup.findRow(record);
    if (row !== undefined) return row;
    throw new InvalidInputError(
      'after',
      'is not the `next` of a page of this list. Start the list again without after.',
    );
  }

  async updateSession(
    ref: SessionRef,
    change: { readonly title?: string; readonly metadata?: Readonly<Record<string, string>> },
  ): Promise<ManagedSession> {
    const found = await this.#lookup.findRoot(ref);
    const record = found.isRecorded
      ? await this.#records.change(found.record.id, change)
      : { ...found.record, ...(await this.#records.changeLabels(found.record, change)) };
    const row = await this.#lookup.getRow({ ...found, record });
    // Title and metadata are not in the session's row.
    await this.#runtime.store.touch(row.key);
    return this.#toManagedSession(record, row);
  }

  async status(ref: SessionRef): Promise<ManagedStatus> {
    return toManagedStatus(await this.#lookup.getRow(await this.#lookup.find(ref)));
  }

  async pending(ref: SessionRef): Promise<readonly PendingCall[]> {
    return (await this.#session(ref)).pending();
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

  async usage(ref: SessionRef): Promise<Usage> {
    const row = typeof ref === 'string' ? undefined : this.#read.get(ref)?.row;
    return this.#usage.get(row ?? (await this.#lookup.getRow(await this.#lookup.find(ref))));
  }

  async sendEvent(
    ref: SessionRef,
    value: UserEvent | Json,
    { dedupeKey }: { readonly dedupeKey?: string } = {},
  ): Promise<SentEvent> {
    const event = parseUserEvent(value);
    const session = await this.#session(ref);
    return this.#send(session, event, dedupeKey);
  }

  eventBatch(): EventBatch {
    const batch = this.#runtime.batch();
    const sessions = new BatchSessions(batch, this.#lookup);
    const sent: Promise<SentEvent>[] = [];
    return {
      getSession: async (ref) => {
        const { record, row } = await sessions.open(ref);
        return this.#toManagedSession(record, row);
      },
      add: async (ref, value, { dedupeKey } = {}) => {
        const event = parseUserEvent(value);
        const { session } = await sessions.open(ref);
        const added = await batch.add(async () => this.#send(session, event, dedupeKey));
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
    ref: SessionRef,
    fromSeq?: Seq,
    options: Pick<StreamOptions, 'signal' | 'follow'> = {},
  ): AsyncGenerator<SessionEvent, void, undefined> {
    for await (const event of this.streamLog(ref, fromSeq, options)) {
      if (event.type === 'partial' || event.type === 'partial.reset') continue;
      const shown = toSessionEvent(event);
      if (shown !== undefined) yield shown;
    }
  }

  async *streamLog(
    ref: SessionRef,
    fromSeq?: Seq,
    { signal, partials = false, follow = true }: StreamOptions = {},
  ): AsyncGenerator<StreamedLogEvent, void, undefined> {
    const known = typeof ref === 'string' ? undefined : this.#read.get(ref)?.found;
    const { session, row } = await this.#lookup.openWithRow(
      known ?? (await this.#lookup.find(ref)),
    );
    const { key } = row;
    const from = fromSeq ?? row.lastSeq;
    if (!Number.isSafeInteger(from) || from < 0)
      throw new InvalidInputError('fromSeq', `must be an event's number or 0; it is ${from}.`);
    // Nothing follows the archived event, so a reader of an archived session need not wait.
    const waits = follow && toManagedStatus(row) !== 'archived';
    let last = Math.min(from, row.lastSeq);
    try {
      const events = bufferedStream({
        sessionId: key.sessionId,
        from,
        last: row.lastSeq,
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

  async interrupt(ref: SessionRef, options: InterruptOptions = {}): Promise<void> {
    await (await this.#session(ref)).interrupt(options);
  }

  async pause(ref: SessionRef): Promise<void> {
    await (await this.#session(ref)).pause();
  }

  async resume(ref: SessionRef): Promise<void> {
    await (await this.#session(ref)).resume();
  }

  async archive(ref: SessionRef): Promise<void> {
    await (await this.#session(ref)).archive();
  }

  async complete(ref: SessionRef): Promise<void> {
    await (await this.#session(ref)).complete();
  }

  async deleteSession(ref: SessionRef, options: DeleteSessionOptions = {}): Promise<boolean> {
    checkOptions(DELETE_SESSION_OPTIONS, options);
    const { unchanged, documents = [] } = options;
    if (unchanged === undefined) {
      if (documents.length === 0) return this.#deletion.delete(ref);
      throw new InvalidInputError('documents', 'needs `unchanged`: pass it too.');
    }
    const found = await this.#lookup.findRoot(ref).catch(ignoreMissingSession);
    if (found === undefined) return false;
    return this.#deletion.deleteUnchanged(found.record, { sessions: unchanged, documents });
  }

  /** Continues the deletions that a crash or an error has interrupted. */
  async resumeDeletions(onError: (error: unknown) => void): Promise<void> {
    await this.#deletion.resume(onError);
  }

  async fork(
    ref: SessionRef,
    { upTo, atRecord, id = this.#newId('session'), documents }: ForkOptions = {},
  ): Promise<ManagedSession> {
    const found = await this.#lookup.findRoot(ref);
    const { record } = found;
    const earlier = await this.#records.findAny(id);
    if (earlier !== undefined) {
      if (earlier.userId !== record.userId || earlier.agentName !== record.agentName)
        throw takenIdError(id);
      return this.getSession(id);
    }
    const session = await this.#lookup.open(found);
    const { createdAt: _, ...same } = record;
    const { updatedAt } = await session.status();
    const copy = await this.#lookup.findRow({ ...record, id });
    // A copy without a record was left by a process that died. The copy itself is complete.
    if ((copy?.head ?? 0) === 0) await session.fork({ id, ...omitUndefined({ upTo, atRecord }) });
    else if (!(await this.#isCopy(record, id))) throw takenIdError(id);
    const { userId } = await this.#records.add(
      { ...same, id, createdAt: updatedAt },
      { documents: documents?.(id) },
    );
    // A reader of changes may have seen the copy before its record.
    await this.#runtime.store.touch({ appName: this.#runtime.app, userId, sessionId: id });
    return this.getSession(id);
  }

  /** True if a session begins with the first event of another. */
  async #isCopy({ id: original, userId }: SessionRecord, id: string): Promise<boolean> {
    const [first, other] = await Promise.all(
      [original, id].map(async (sessionId) => {
        const key = { appName: this.#runtime.app, userId, sessionId };
        for await (const event of this.#runtime.store.read(key, 0)) return canonicalJson(event);
        return undefined;
      }),
    );
    return first !== undefined && first === other;
  }

  async rewind(
    ref: SessionRef,
    options: { readonly beforeInvocationId: string; readonly dedupeKey?: string },
  ): Promise<void> {
    await (await this.#session(ref)).rewind(options);
  }

  async inspect(ref: SessionRef): Promise<SessionInspection> {
    const found = await this.#lookup.find(ref);
    const { id, userId } = found.record;
    // Unlike opening the session, this also finds one that cannot run.
    return (await this.#runtime.inspect(id, { user: userId })) ?? this.#lookup.open(found);
  }

  async #send(
    session: Session,
    event: UserEvent,
    key: string = newMessageId(),
  ): Promise<SentEvent> {
    // The session itself refuses a message when it is closed.
    if (event.type === 'user.message' || event.type === 'user.define_outcome')
      return sendInput(session, event, key);
    const row = await session.status();
    const status = toManagedStatus(row);
    if (isClosedStatus(status))
      throw new IllegalTransitionError(session.id, status, `sending ${event.type}`);
    switch (event.type) {
      case 'user.interrupt':
        await session.interrupt();
        return { inputSeq: 0, duplicate: false };
      case 'user.tool_confirmation': {
        const { callId } = await resolveCall(this.#runtime.store, row, event.tool_use_id);
        const { deny_message: message, fingerprint } = event;
        const turn =
          event.result === 'allow'
            ? session.approve(callId, { fingerprint })
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

  async #session(ref: SessionRef): Promise<Session> {
    return this.#lookup.open(await this.#lookup.find(ref));
  }

  #toManagedSession(record: SessionRecord, row: SessionRow): ManagedSession {
    const { id, agentId, agentVersion, userId, environment, title, metadata, createdAt } = record;
    return {
      id,
      uid: row.uid,
      agentId,
      agentVersion,
      owner: { appName: this.#runtime.app, userId },
      status: toManagedStatus(row),
      sessionStatus: row.status === 'quarantined' ? 'failed' : row.status,
      pendingCount: row.pending.length,
      ...omitUndefined({ waitingFor: findLongestWaiting(row)?.needs }),
      ...omitUndefined({ environment, title, metadata }),
      createdAt,
      updatedAt: Math.max(createdAt, row.updatedAt),
      lastSeq: row.lastSeq,
    };
  }
}

function findLongestWaiting({ pending }: SessionRow): SessionRow['pending'][number] | undefined {
  return pending.toSorted((one, other) => one.since - other.since)[0];
}

function takenIdError(id: string): InvalidInputError {
  return new InvalidInputError('id', `"${id}" is the id of another session: choose another one.`);
}

function toAddedEvent(input: Json | undefined): AddedEvent {
  const { invocationId, callId } = isJsonObject(input) ? input : {};
  return omitUndefined({
    invocationId: typeof invocationId === 'string' ? invocationId : undefined,
    callId: typeof callId === 'string' ? callId : undefined,
  });
}
