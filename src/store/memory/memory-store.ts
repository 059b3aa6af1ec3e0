import {
  frozenJson,
  newSessionUid,
  InvalidInputError,
  type Json,
  type LogEvent,
  type Seq,
  parseIdentity,
  parseSessionKey,
  type SessionKey,
} from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { ChangeFeed } from '../rules/change-feed.ts';
import { duplicateReceipt } from '../rules/dedupe-key.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import type { Failpoints } from '../failpoints.ts';
import { changesList } from '../encoding/changes-list.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { checkNumberings } from './check-numberings.ts';
import { MemoryChanges } from './memory-changes.ts';
import { MemoryDocuments } from './memory-documents.ts';
import { MemoryPendingCalls } from './memory-pending-calls.ts';
import type { MemorySession } from './memory-session.ts';
import { byWork, MemorySessions } from './memory-sessions.ts';
import { MemorySharedState } from './memory-shared-state.ts';
import { MemoryUsage } from './memory-usage.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { LOOK_AHEAD_MS } from '../rules/runnable-position.ts';
import { listChangedSessions, checkInputs } from '../rules/submission-rules.ts';
import { planTrim } from '../encoding/plan-trim.ts';
import { checkTrim } from '../rules/trim-rules.ts';
import { areUnchanged, checkDeleteCondition } from '../rules/delete-rules.ts';
import { checkReplacement, isExpected } from '../rules/replace-rules.ts';
import { checkStep, isAtOtherStep, isStale } from '../rules/step-rules.ts';
import { SessionExistsError, StoreClosedError } from '../store-errors.ts';
import type { ExportSelection, ItemImportOptions, StoreItem } from '../store-item.ts';
import { toUsageItem } from '../copies/usage-item.ts';
import { writeItems } from '../copies/write-items.ts';
import { USAGE_DIMENSIONS } from '../rules/usage-rules.ts';
import { MemoryImport, toSessionItems, type MemoryContent } from './memory-items.ts';
import type {
  ClaimResult,
  CommitResult,
  CommittedStep,
  DeleteCondition,
  InboxInput,
  InboxRow,
  InjectReceipt,
  InputSeq,
  JournalTrim,
  OwnerId,
  PendingCallQuery,
  RunnablePage,
  RunnableQuery,
  SessionChangePage,
  SessionChangeQuery,
  SessionCountFilter,
  SessionCounts,
  SessionFilter,
  SessionInit,
  SessionPendingCall,
  SessionReplacement,
  SessionRow,
  SettledStep,
  SharedState,
  StepNumber,
  Store,
  StoreListener,
  Submission,
  SubmitResult,
  UsageQuery,
  UsageTotal,
  UserQuery,
  VacuumResult,
} from '../store.ts';

/** The options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** Creates the uid of a new session. Default: random. */
  readonly newUid?: () => string;
  /** Makes the store fail, in tests. */
  readonly failpoints?: Failpoints;
}

/** A store in memory. Its data is lost when the process ends. Several runtimes in the process can share it. */
export class MemoryStore implements Store {
  readonly durability = 'process' as const;

  readonly #newUid: () => string;
  readonly #failpoints: Failpoints;
  readonly #feed = new ChangeFeed();
  readonly #sessions = new MemorySessions();
  readonly #owners = new Set<OwnerId>();
  readonly #shared = new MemorySharedState();
  readonly #documents = new MemoryDocuments();
  readonly #pendingCalls = new MemoryPendingCalls();
  readonly #changes = new MemoryChanges();
  readonly #usage = new MemoryUsage();
  readonly #content: MemoryContent = {
    sessions: this.#sessions,
    documents: this.#documents,
    shared: this.#shared,
    usage: this.#usage,
  };
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.#newUid = options.newUid ?? newSessionUid;
    this.#failpoints = options.failpoints ?? {};
  }

  async join(owner: OwnerId): Promise<void> {
    this.#assertOpen();
    this.#owners.add(parseIdentity(owner, 'owner'));
  }

  async leave(owner: OwnerId): Promise<void> {
    this.#assertOpen();
    this.#owners.delete(owner);
  }

  async create(
    key: SessionKey,
    init: SessionInit,
  ): Promise<{ readonly row: SessionRow; readonly created: boolean }> {
    const parsed = Object.freeze(parseSessionKey(key));
    parseIdentity(init.agent, 'agent');
    const present = this.#find(key);
    if (present !== undefined) return { row: present.toRow(), created: false };
    this.#assertJoined(init.owner);
    const created = this.#write(() => {
      const session = this.#sessions.create(parsed, { ...init, uid: this.#newUid() });
      this.#sessions.add(session);
      this.#changes.add(session);
      return { row: session.toRow(), created: true };
    });
    this.#feed.publish([parsed]);
    return created;
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    return this.#find(key)?.toRow();
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    this.#assertOpen();
    return this.#sessions.list(filter).map((session) => session.toRow());
  }

  async countSessions(filter: SessionCountFilter): Promise<SessionCounts> {
    this.#assertOpen();
    return this.#sessions.count(filter);
  }

  async countBytes(filter: SessionCountFilter): Promise<number> {
    this.#assertOpen();
    return this.#sessions.countBytes(filter);
  }

  async listUsers(query: UserQuery): Promise<readonly string[]> {
    this.#assertOpen();
    return this.#sessions.listUsers(query);
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
    expected?: Pick<SessionRow, 'uid' | 'head'>,
  ): Promise<ClaimResult> {
    this.#assertJoined(owner);
    const session = this.#get(key);
    if (isAtOtherStep(session, expected)) return { ok: false, changed: session.toRow() };
    if (session.owner === owner) return { ok: true, row: session.toRow(), recovered: false };
    const recovered = session.summary.inFlight > 0;
    if (recovered && session.owner !== null && this.#owners.has(session.owner))
      return { ok: false, owned: session.owner };
    return this.#write(() => {
      session.owner = owner;
      session.epoch++;
      return { ok: true, row: session.toRow(), recovered };
    });
  }

  async evict(key: SessionKey, from?: OwnerId): Promise<{ readonly evicted: OwnerId | null }> {
    const session = this.#get(key);
    const evicted = session.owner;
    if (evicted === null || (from ?? evicted) !== evicted) return { evicted: null };
    this.#write(() => {
      session.owner = null;
      session.epoch++;
    });
    this.#feed.publish([session.key]);
    return { evicted };
  }

  async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    this.#assertOpen();
    for (const step of steps) checkStep(step);
    checkNumberings(steps, (key) => this.#sessions.find(key));
    const results = this.#write(() => steps.map((step) => this.#commitOne(step)));
    this.#feed.publish(
      steps.filter((_, index) => results[index]?.ok === true).map(({ key }) => key),
    );
    return results;
  }

  async inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    const value = frozenJson(input.value, 'input.value');
    const session = this.#get(key);
    const earlier = session.inputKeys.find(dedupeKey);
    if (earlier !== undefined) return duplicateReceipt(dedupeKey, earlier);
    const inputSeq = this.#write(() =>
      session.appendInput({ place: input.place, value }, dedupeKey),
    );
    this.#sessions.updateBusy(session);
    this.#feed.publish([session.key]);
    return { inputSeq, duplicate: false };
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { documents = [], sessions = [], inputs = [] } = submission;
    checkInputs(inputs);
    this.#assertOpen();
    const { result, apply } = this.#documents.plan(documents);
    if (!result.ok) return result;
    const created = sessions.flatMap(({ key, init }) => {
      const parsed = Object.freeze(parseSessionKey(key));
      parseIdentity(init.agent, 'agent');
      if (this.#find(key) !== undefined) return [];
      this.#assertJoined(init.owner);
      return this.#sessions.create(parsed, { ...init, uid: this.#newUid() });
    });
    const targets = inputs.map(({ key, input, dedupeKey }) => {
      const name = toMapKey(key);
      const session = created.find((one) => toMapKey(one.key) === name) ?? this.#get(key);
      const value = frozenJson(input.value, 'input.value');
      return { session, dedupeKey, input: { place: input.place, value } };
    });
    for (const { session, dedupeKey } of targets) {
      const earlier = session.inputKeys.find(dedupeKey);
      if (earlier !== undefined) duplicateReceipt(dedupeKey, earlier);
    }
    const receipts = this.#write(() => {
      apply();
      for (const session of created) {
        this.#sessions.add(session);
        this.#changes.add(session);
      }
      return targets.map(({ session, input, dedupeKey }): InjectReceipt => {
        const earlier = session.inputKeys.find(dedupeKey);
        if (earlier !== undefined) return { inputSeq: earlier, duplicate: true };
        return { inputSeq: session.appendInput(input, dedupeKey), duplicate: false };
      });
    });
    for (const { session } of targets) this.#sessions.updateBusy(session);
    this.#feed.publish(listChangedSessions(inputs, receipts));
    return { ok: true, receipts };
  }

  async findInput(key: SessionKey, dedupeKey: string): Promise<InputSeq | undefined> {
    parseIdentity(dedupeKey, 'dedupeKey');
    return this.#get(key).inputKeys.find(dedupeKey);
  }

  async inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]> {
    parsePosition(after, 'after');
    return this.#get(key).inbox.filter(({ inputSeq }) => inputSeq > after);
  }

  async snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    return this.#get(key).snapshot;
  }

  async *steps(key: SessionKey, after: StepNumber): AsyncGenerator<CommittedStep, void, undefined> {
    const session = this.#get(key);
    for (let index = parsePosition(after, 'after'); ; index++) {
      const step = session.journal.step(index);
      if (step === undefined) return;
      yield step;
      if (session.deleted) throw this.#sessions.notFound(key);
    }
  }

  async *listSteps(
    key: SessionKey,
    fromRecord: RecordSeq,
  ): AsyncGenerator<CommittedStep, void, undefined> {
    const first = this.#get(key).journal.findStepIndex(parsePosition(fromRecord, 'fromRecord'));
    for await (const step of this.steps(key, first)) {
      if (changesList(step.records)) yield step;
    }
  }

  async *read(key: SessionKey, from: Seq = 0): AsyncGenerator<LogEvent, void, undefined> {
    const session = this.#get(key);
    let seq = parsePosition(from, 'from');
    for (;;) {
      const events = session.journal.eventsAfter(seq);
      if (events.length === 0) return;
      seq += events.length;
      for (const event of events) {
        yield event;
        if (session.deleted) throw this.#sessions.notFound(key);
      }
    }
  }

  async findRunnable(query: RunnableQuery): Promise<RunnablePage> {
    this.#assertOpen();
    const { now, after } = query;
    const limit = parsePosition(query.limit, 'limit');
    const busy = this.#sessions.listBusy(query, this.#owners);
    const sessions = busy
      .filter(({ summary, inbox }) => {
        const due = summary.nextDueAt !== null && summary.nextDueAt <= now;
        return summary.inFlight > 0 || inbox.length > 0 || due;
      })
      .map((session) => ({ session, position: session.runnablePosition }))
      .filter(({ position }) => after === undefined || byWork(position, after) > 0)
      .toSorted((a, b) => byWork(a.position, b.position))
      .slice(0, limit)
      .map(({ session }) => session.toRow());
    const due = busy.flatMap(({ summary: { inFlight, nextDueAt }, inbox }) => {
      const waits = inFlight === 0 && inbox.length === 0;
      const isAhead = nextDueAt !== null && nextDueAt > now && nextDueAt <= now + LOOK_AHEAD_MS;
      return waits && isAhead ? nextDueAt : [];
    });
    const nextDueAt = due.length === 0 ? undefined : due.reduce((a, b) => Math.min(a, b));
    return { sessions, nextDueAt };
  }

  async recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const session = this.#get(key);
    if (ok && session.failures === 0) return { quarantined: false };
    this.#write(() => {
      session.failures = ok ? 0 : session.failures + 1;
      this.#changes.add(session);
    });
    return { quarantined: session.quarantined };
  }

  async pendingCalls(query: PendingCallQuery): Promise<readonly SessionPendingCall[]> {
    this.#assertOpen();
    return this.#pendingCalls.list(query);
  }

  async changes(query: SessionChangeQuery): Promise<SessionChangePage> {
    this.#assertOpen();
    return this.#changes.read(query);
  }

  async touch(key: SessionKey): Promise<void> {
    const session = this.#find(key);
    if (session === undefined) return;
    this.#write(() => this.#changes.add(session));
    this.#feed.publish([session.key]);
  }

  async usage(query: UsageQuery): Promise<readonly UsageTotal[]> {
    this.#assertOpen();
    return this.#usage.read(query);
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    this.#assertOpen();
    return this.#shared.read(scope);
  }

  async delete(key: SessionKey, condition?: DeleteCondition): Promise<boolean> {
    const checked = condition && checkDeleteCondition(condition);
    const session = this.#find(key);
    const children = this.#sessions.listChildren(key);
    const deletedSessions = session === undefined ? children : [session, ...children];
    if (deletedSessions.length === 0) return false;
    const rows = deletedSessions.map((one) => one.toRow());
    if (checked !== undefined && !areUnchanged(rows, checked)) return false;
    const { result, apply } = this.#documents.plan(checked?.documents ?? []);
    if (!result.ok) return false;
    this.#write(() => {
      apply();
      this.#remove(deletedSessions);
    });
    this.#feed.publish(deletedSessions.map((one) => one.key));
    return session !== undefined;
  }

  async replace(key: SessionKey, replacement: SessionReplacement): Promise<boolean> {
    const { init } = replacement;
    const inputs = checkReplacement(key, replacement).map(({ input, dedupeKey }) => ({
      input: { place: input.place, value: frozenJson(input.value, 'input.value') },
      dedupeKey,
    }));
    this.#assertJoined(init.owner);
    const session = this.#find(key);
    if (session === undefined || !isExpected(session, session.inbox.length, replacement))
      return false;
    const removed = [session, ...this.#sessions.listChildren(key)];
    const created = this.#sessions.create(session.key, { ...init, uid: this.#newUid() });
    this.#write(() => {
      this.#remove(removed);
      this.#sessions.add(created);
      this.#changes.add(created);
      for (const { input, dedupeKey } of inputs) created.appendInput(input, dedupeKey);
    });
    this.#sessions.updateBusy(created);
    this.#feed.publish(removed.map((one) => one.key));
    return true;
  }

  async trim(key: SessionKey, trim: JournalTrim): Promise<boolean> {
    const checked = checkTrim(trim);
    const { snapshot, summary } = this.#get(key);
    const { pending } = summary;
    const plan = await planTrim(checked, {
      steps: (after) => this.steps(key, after),
      listSteps: (fromRecord) => this.listSteps(key, fromRecord),
      snapshot,
      pending,
    });
    if (plan === undefined) return false;
    const session = this.#get(key);
    const { first } = plan;
    const isSame = session.journal.findLastRecord(first.step) === first.lastRecord;
    if (!isSame || isAtOtherStep(session, checked.expected)) return false;
    this.#write(() => session.trim(checked));
    return true;
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    this.#assertOpen();
    return this.#documents.get(kind, id);
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    this.#assertOpen();
    return this.#documents.list(query);
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    this.#assertOpen();
    const { result, apply } = this.#documents.plan(changes);
    if (result.ok) this.#write(apply);
    return result;
  }

  async *exportItems({ session }: ExportSelection = {}): AsyncGenerator<
    StoreItem,
    void,
    undefined
  > {
    // Nothing is awaited until everything has been copied: it is of one moment.
    yield* session === undefined
      ? this.#listItems()
      : [this.#get(session), ...this.#sessions.listChildren(session)].flatMap(toSessionItems);
  }

  async importItems(
    items: AsyncIterable<StoreItem>,
    options: ItemImportOptions = {},
  ): Promise<readonly SessionKey[]> {
    this.#assertOpen();
    const imported = new MemoryImport(this.#content);
    const keys = await writeItems(items, imported.createWriter(), options);
    const taken = imported.sessions.find(({ key }) => this.#find(key) !== undefined);
    if (taken !== undefined) throw new SessionExistsError(taken.key);
    this.#write(() => {
      imported.apply();
      for (const session of imported.sessions) {
        this.#sessions.add(session);
        this.#sessions.updateBusy(session);
        this.#sessions.packWhenIdle(session);
        this.#pendingCalls.update(session);
        this.#changes.add(session);
      }
    });
    this.#feed.publish(keys);
    return keys;
  }

  #remove(sessions: readonly MemorySession[]): void {
    for (const one of sessions) {
      this.#sessions.remove(one);
      this.#pendingCalls.update(one);
      this.#changes.add(one);
    }
  }

  #listItems(): readonly StoreItem[] {
    this.#assertOpen();
    const { shared, documents, usage, sessions } = this.#content;
    return [
      ...sessions.all().flatMap(toSessionItems),
      ...documents.all().map((document): StoreItem => ({ type: 'document', ...document })),
      ...shared.items(),
      ...[...sessions.tombstones].map((one): StoreItem => ({ type: 'tombstone', ...one })),
      ...usage
        .apps()
        .flatMap((appName) =>
          usage.read({ appName, by: USAGE_DIMENSIONS }).map((total) => toUsageItem(appName, total)),
        ),
    ];
  }

  async vacuum(): Promise<VacuumResult> {
    this.#assertOpen();
    return { bytesBefore: 0, bytesAfter: 0 };
  }

  subscribe(listener: StoreListener): () => void {
    this.#assertOpen();
    return this.#feed.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#owners.clear();
    this.#feed.clear();
    this.#sessions.close();
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreClosedError();
  }

  /** Runs a change that has been checked and cannot fail. So `beforeCommit` has nothing to roll back. */
  #write<T>(change: () => T): T {
    this.#assertOpen();
    this.#failpoints.beforeCommit?.();
    const result = change();
    this.#failpoints.afterCommit?.();
    return result;
  }

  #find(key: SessionKey): MemorySession | undefined {
    this.#assertOpen();
    return this.#sessions.find(key);
  }

  #get(key: SessionKey): MemorySession {
    this.#assertOpen();
    return this.#sessions.get(key);
  }

  #assertJoined(owner: OwnerId): void {
    this.#assertOpen();
    if (this.#owners.has(owner)) return;
    throw new InvalidInputError('owner', 'must join the store before it owns sessions.');
  }

  #commitOne(step: SettledStep): CommitResult {
    const session = this.#find(step.key);
    if (session === undefined || isStale(step, session)) {
      return { ok: false, refused: 'stale' };
    }
    const accepted = session.acceptInputs(step);
    if (accepted === undefined) return { ok: false, refused: 'inputs' };
    const keys = this.#shared.findChangedKeys(step);
    if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
    this.#shared.write(step);
    session.append(step);
    this.#sessions.updateBusy(session);
    this.#sessions.packWhenIdle(session);
    this.#pendingCalls.update(session);
    this.#changes.add(session);
    if (step.usage !== undefined) this.#usage.add(step.key, session.agent, step.usage);
    return accepted.length === 0 ? { ok: true } : { ok: true, inputs: accepted };
  }
}
