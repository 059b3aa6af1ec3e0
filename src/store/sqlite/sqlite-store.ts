import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  encodeJson,
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
import { checkChanges } from '../rules/document-rules.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';
import type { Blobs } from '../encoding/blob-references.ts';
import type { Connection } from './database/connection.ts';
import { ChangeTable } from './tables/change-table.ts';
import type { DocumentTable } from './tables/document-table.ts';
import { ExternalChangeWatcher } from './database/external-change-watcher.ts';
import { GarbageTable } from './tables/garbage-table.ts';
import type { InboxTable } from './tables/inbox-table.ts';
import { STEPS_PER_PAGE } from '../encoding/numbered-items.ts';
import { type JournalTable, packStep, packTrim } from './tables/journal-table.ts';
import type { PendingCallTable } from './tables/pending-call-table.ts';
import { WalLossDetector } from './database/wal-loss-detector.ts';
import { SqliteOwnerRegistry } from './owners/owner-registry.ts';
import { pack } from './database/packed-json.ts';
import { retryBusy, type BusyPolicy } from './database/retry-busy.ts';
import type { SqliteStoreOptions } from './sqlite-store-options.ts';
import type { SessionHead, SessionTable } from './tables/session-table.ts';
import { createTables, type SqliteTables } from './tables/sqlite-tables.ts';
import { commitStep } from './commit-step.ts';
import { SqliteItems } from './sqlite-items.ts';
import type { Failpoints } from '../failpoints.ts';
import type { ExportSelection, ItemImportOptions, StoreItem } from '../store-item.ts';
import { WriteQueue } from './database/write-queue.ts';
import { writeSubmission } from './write-submission.ts';
import { areUnchanged, checkDeleteCondition } from '../rules/delete-rules.ts';
import { checkReplacement, isExpected } from '../rules/replace-rules.ts';
import { checkStep, isAtOtherStep } from '../rules/step-rules.ts';
import { listChangedSessions, checkInputs } from '../rules/submission-rules.ts';
import { addHashes, planTrim } from '../encoding/plan-trim.ts';
import { checkTrim } from '../rules/trim-rules.ts';
import { SessionNotFoundError, StoreClosedError, StoreInUseError } from '../store-errors.ts';
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
  VacuumOptions,
  VacuumResult,
} from '../store.ts';

/** A store in a SQLite file. Open it with `openSqliteStore`. */
export class SqliteStore implements Store {
  readonly durability = 'crash' as const;

  readonly #connection: Connection;
  readonly #policy: BusyPolicy;
  readonly #newUid: () => string;
  readonly #feed = new ChangeFeed();
  readonly #externalChanges: ExternalChangeWatcher;
  readonly #writes: WriteQueue;
  readonly #walLossDetector: WalLossDetector;
  readonly #failpoints: Failpoints;
  readonly #tables: SqliteTables;
  readonly #sessions: SessionTable;
  readonly #journal: JournalTable;
  readonly #inbox: InboxTable;
  readonly #owners: SqliteOwnerRegistry;
  readonly #garbage: GarbageTable;
  readonly #documents: DocumentTable;
  readonly #pendingCalls: PendingCallTable;
  readonly #changes: ChangeTable;
  readonly #joining = new Map<OwnerId, Promise<void>>();
  /** The owners at the last change of another process. */
  #seenOwners = '';
  #closing: Promise<void> | undefined;

  constructor(connection: Connection, policy: BusyPolicy, options: SqliteStoreOptions) {
    this.#connection = connection;
    this.#policy = policy;
    this.#newUid = options.newUid ?? newSessionUid;
    this.#externalChanges = new ExternalChangeWatcher(connection, options.pollMs ?? 20, () =>
      this.#feed.publish('any', this.#mayHaveWork() ? 'input' : 'elsewhere'),
    );
    const publish = (changed: readonly SessionKey[]): void => this.#feed.publish(changed);
    this.#walLossDetector = new WalLossDetector(connection);
    const failpoints = options.failpoints ?? {};
    this.#writes = new WriteQueue(connection, policy, publish, failpoints, this.#walLossDetector);
    this.#failpoints = failpoints;
    this.#tables = createTables(connection);
    this.#sessions = this.#tables.sessions;
    this.#journal = this.#tables.journal;
    this.#inbox = this.#tables.inbox;
    this.#documents = this.#tables.documents;
    this.#pendingCalls = this.#tables.pendingCalls;
    this.#owners = new SqliteOwnerRegistry(connection);
    this.#changes = new ChangeTable(connection, this.#sessions);
    this.#garbage = new GarbageTable(connection, this.#journal, this.#inbox, this.#tables.blobs);
  }

  async join(owner: OwnerId): Promise<void> {
    this.#assertOpen();
    parseIdentity(owner, 'owner');
    const joining = this.#joining.get(owner) ?? this.#join(owner);
    this.#joining.set(owner, joining);
    try {
      await joining;
    } finally {
      this.#joining.delete(owner);
    }
    // Removes the data that a process which died during a delete left behind.
    await this.#removeGarbage();
  }

  async #join(owner: OwnerId): Promise<void> {
    if (this.#owners.hasJoined(owner)) return;
    const dead = await this.#owners.findDead(await this.#read(() => this.#owners.listOwners()));
    const former = await this.#owners.open(owner);
    try {
      await this.#writes.add(() => {
        for (const one of dead) if (one.owner !== owner) this.#owners.removeDead(one);
        this.#owners.write(owner, former);
      });
    } catch (error) {
      this.#owners.close(owner);
      throw error;
    }
  }

  async leave(owner: OwnerId): Promise<void> {
    if (!this.#owners.hasJoined(owner)) return;
    this.#owners.close(owner);
    await this.#writes.add(() => this.#owners.remove(owner));
  }

  async create(
    key: SessionKey,
    init: SessionInit,
  ): Promise<{ readonly row: SessionRow; readonly created: boolean }> {
    const parsed = parseSessionKey(key);
    parseIdentity(init.agent, 'agent');
    return this.#writes.add((changed) => {
      const present = this.#sessions.find(parsed);
      if (present !== undefined) return { row: present, created: false };
      this.#assertJoined(init.owner);
      this.#sessions.insert(parsed, { ...init, uid: this.#newUid() });
      changed(parsed);
      return { row: this.#sessions.get(parsed), created: true };
    });
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    return this.#read(() => this.#sessions.find(key));
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    return this.#read(() => this.#sessions.list(filter));
  }

  async countSessions(filter: SessionCountFilter): Promise<SessionCounts> {
    return this.#read(() => this.#sessions.count(filter));
  }

  async countBytes(filter: SessionCountFilter): Promise<number> {
    return this.#read(() => this.#sessions.countBytes(filter));
  }

  async listUsers(query: UserQuery): Promise<readonly string[]> {
    return this.#read(() => this.#sessions.listUsers(query));
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
    expected?: Pick<SessionRow, 'uid' | 'head'>,
  ): Promise<ClaimResult> {
    for (;;) {
      this.#assertJoined(owner);
      const present = await this.#read(() => this.#sessions.get(key));
      if (isAtOtherStep(present, expected)) return { ok: false, changed: present };
      // The common case needs no write.
      if (present.owner === owner) return { ok: true, row: present, recovered: false };
      const former = present.inFlight > 0 ? present.owner : null;
      if (former !== null && (await this.#owners.isAlive(former)))
        return { ok: false, owned: former };
      const claimed = await this.#writes.add(() => {
        this.#assertJoined(owner);
        const row = this.#sessions.get(key);
        if (isAtOtherStep(row, expected)) return { ok: false, changed: row } as const;
        if (row.owner === owner) return { ok: true, row, recovered: false } as const;
        const recovered = row.inFlight > 0;
        // Another owner has the session by now. Check first whether it is alive.
        if (recovered && row.owner !== null && row.owner !== former) return undefined;
        this.#sessions.setOwner(this.#sessions.getHead(key).id, owner);
        return { ok: true, row: this.#sessions.get(key), recovered } as const;
      });
      if (claimed !== undefined) return claimed;
    }
  }

  async evict(key: SessionKey, from?: OwnerId): Promise<{ readonly evicted: OwnerId | null }> {
    return this.#writes.add((changed) => {
      const { id, owner: evicted } = this.#sessions.getHead(key);
      if (evicted === null || (from ?? evicted) !== evicted) return { evicted: null };
      this.#sessions.setOwner(id, null);
      changed(key);
      return { evicted };
    });
  }

  async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    for (const step of steps) checkStep(step);
    const packed = steps.map((step) => ({ step, packed: packStep(step) }));
    const results = this.#writes.add((changed) =>
      packed.map((one) => {
        const result = commitStep(this.#tables, one.step, one.packed);
        if (result.ok) changed(one.step.key);
        return result;
      }),
    );
    // The committer has collected the steps of this turn of the event loop already, so do not wait for more.
    this.#writes.flush();
    return results;
  }

  async inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    encodeJson(input.value, 'input.value');
    const blobs: Blobs = new Map();
    const value = pack(input.value, blobs);
    return this.#writes.add((changed) => {
      const head = this.#sessions.getHead(key);
      const earlier = this.#inbox.findByKey(head.id, dedupeKey);
      if (earlier !== undefined) return duplicateReceipt(dedupeKey, earlier);
      const inputSeq = this.#inbox.append(head, dedupeKey, input.place, value, blobs);
      changed(key);
      return { inputSeq, duplicate: false };
    });
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { documents = [], sessions = [], inputs = [] } = submission;
    checkInputs(inputs);
    const checked = checkChanges(documents);
    const newSessions = sessions.map(({ key, init }) => {
      parseIdentity(init.agent, 'agent');
      return { key: parseSessionKey(key), init };
    });
    const packed = inputs.map((one) => {
      const blobs: Blobs = new Map();
      return { ...one, value: pack(one.input.value, blobs), blobs };
    });
    const tables = { documents: this.#documents, sessions: this.#sessions, inbox: this.#inbox };
    const checkedSubmission = { documents: checked, sessions: newSessions, inputs: packed };
    return this.#writes.add((changed) => {
      const result = writeSubmission(tables, checkedSubmission, {
        newUid: this.#newUid,
        assertJoined: (owner) => this.#assertJoined(owner),
      });
      if (result.ok) for (const key of listChangedSessions(inputs, result.receipts)) changed(key);
      return result;
    });
  }

  async findInput(key: SessionKey, dedupeKey: string): Promise<InputSeq | undefined> {
    parseIdentity(dedupeKey, 'dedupeKey');
    return this.#read(() => this.#inbox.findByKey(this.#sessions.getHead(key).id, dedupeKey));
  }

  async inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]> {
    parsePosition(after, 'after');
    return this.#read(() => this.#inbox.unread(key, this.#sessions.getHead(key).id, after));
  }

  async snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    return this.#read(() => this.#journal.snapshot(key, this.#sessions.getHead(key).id));
  }

  async *steps(key: SessionKey, after: StepNumber): AsyncGenerator<CommittedStep, void, undefined> {
    const from = parsePosition(after, 'after');
    yield* this.#pages(
      key,
      () => from,
      (head, last) => this.#journal.steps(key, head, last),
    );
  }

  async *listSteps(
    key: SessionKey,
    fromRecord: RecordSeq,
  ): AsyncGenerator<CommittedStep, void, undefined> {
    const from = parsePosition(fromRecord, 'fromRecord');
    yield* this.#pages(
      key,
      (head) => this.#journal.findStepBeforeRecord(head, from),
      (head, last) => this.#journal.listSteps(key, head, last),
    );
  }

  async *read(key: SessionKey, from: Seq = 0): AsyncGenerator<LogEvent, void, undefined> {
    const after = parsePosition(from, 'from');
    const pages = this.#pages(
      key,
      (head) => this.#journal.findStepUpToEvent(head, after),
      (head, last) => this.#journal.events(key, head, last),
    );
    for await (const { events } of pages) {
      for (const event of events) {
        if (event.seq > after) yield event;
      }
    }
  }

  async findRunnable(query: RunnableQuery): Promise<RunnablePage> {
    const exceptOwners = await this.#findOtherLiveOwners(query.owner);
    return this.#read(() => this.#sessions.findRunnable({ ...query, exceptOwners }));
  }

  async recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const { failures } = await this.#read(() => this.#sessions.getHead(key));
    // The common case needs no write.
    if (ok && failures === 0) return { quarantined: false };
    return this.#writes.add(() => {
      const head = this.#sessions.getHead(key);
      const counted = ok ? 0 : head.failures + 1;
      this.#sessions.setFailures(head.id, counted);
      return { quarantined: counted >= MAX_HYDRATION_FAILURES };
    });
  }

  async pendingCalls(query: PendingCallQuery): Promise<readonly SessionPendingCall[]> {
    return this.#read(() => this.#pendingCalls.list(query));
  }

  async changes(query: SessionChangeQuery): Promise<SessionChangePage> {
    const found = await this.#read(() => {
      const page = this.#changes.read(query);
      return this.#changes.isMarked(page) ? page : undefined;
    });
    return found ?? this.#writes.add(() => this.#changes.mark(query));
  }

  async touch(key: SessionKey): Promise<void> {
    await this.#writes.add((changed) => {
      if (this.#sessions.touch(key)) changed(key);
    });
  }

  async usage(query: UsageQuery): Promise<readonly UsageTotal[]> {
    return this.#read(() => this.#tables.usage.read(query));
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    return this.#read(() => this.#tables.shared.state(scope));
  }

  async delete(key: SessionKey, condition?: DeleteCondition): Promise<boolean> {
    const checked = condition && checkDeleteCondition(condition);
    const deleted = await this.#writes.add((changed) => {
      const keys = [key, ...this.#sessions.children(key)];
      if (checked !== undefined) {
        const rows = keys.map((one) => this.#sessions.find(one)).filter((one) => one !== undefined);
        const holds = areUnchanged(rows, checked) && this.#documents.write(checked.documents).ok;
        if (!holds) return false;
      }
      return this.#removeSessions(keys, changed);
    });
    await this.#removeGarbage();
    return deleted;
  }

  async replace(key: SessionKey, replacement: SessionReplacement): Promise<boolean> {
    const inputs = checkReplacement(key, replacement).map((one) => {
      const blobs: Blobs = new Map();
      return { ...one, value: pack(one.input.value, blobs), blobs };
    });
    const { init } = replacement;
    const tables = { documents: this.#documents, sessions: this.#sessions, inbox: this.#inbox };
    const submission = { documents: [], sessions: [{ key: parseSessionKey(key), init }], inputs };
    const replaced = await this.#writes.add((changed) => {
      this.#assertJoined(init.owner);
      const head = this.#sessions.head(key);
      if (head === undefined) return false;
      const unread = this.#inbox.unread(key, head.id, 0).length;
      if (!isExpected(head, unread, replacement)) return false;
      this.#removeSessions([key, ...this.#sessions.children(key)], changed);
      writeSubmission(tables, submission, {
        newUid: this.#newUid,
        assertJoined: (owner) => this.#assertJoined(owner),
      });
      return true;
    });
    await this.#removeGarbage();
    return replaced;
  }

  async trim(key: SessionKey, trim: JournalTrim): Promise<boolean> {
    const checked = checkTrim(trim);
    const row = await this.#read(() => this.#sessions.get(key));
    const { pending } = row;
    const snapshot = await this.snapshot(key);
    const plan = await planTrim(checked, {
      steps: (after) => this.steps(key, after),
      listSteps: (fromRecord) => this.listSteps(key, fromRecord),
      snapshot,
      pending,
    });
    if (plan === undefined) return false;
    const packed = packTrim(checked, plan.at);
    return this.#writes.add(() => {
      const head = this.#sessions.getHead(key);
      const { first, addedBytes } = plan;
      const isSame = this.#journal.findLastRecord(head, first.step) === first.lastRecord;
      if (!isSame || isAtOtherStep(head, checked.expected)) return false;
      const unread = new Set<string>();
      for (const { input } of this.#inbox.unread(key, head.id, 0)) addHashes(unread, input.value);
      this.#journal.trim(head, { ...packed, first: first.step });
      const released = [...plan.released].filter((hash) => !unread.has(hash));
      this.#tables.blobs.release(head.id, released);
      this.#sessions.addBytes(head.id, addedBytes);
      return true;
    });
  }

  /** Removes the rows of sessions, in the open transaction. Returns whether the first one existed. */
  #removeSessions(keys: readonly SessionKey[], changed: (key: SessionKey) => void): boolean {
    const removed = keys.map((one) => {
      const head = this.#sessions.head(one);
      if (head === undefined) return false;
      this.#pendingCalls.removeSession(one, head);
      this.#sessions.remove(one, head);
      this.#garbage.add(head.id);
      changed(one);
      return true;
    });
    return removed[0] === true;
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    return this.#read(() => this.#documents.get(kind, id));
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    return this.#read(() => this.#documents.list(query));
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    const checked = checkChanges(changes);
    return this.#writes.add(() => this.#documents.write(checked));
  }

  async *exportItems(selection: ExportSelection = {}): AsyncGenerator<StoreItem, void, undefined> {
    this.#assertOpen();
    const items = await SqliteItems.open(this.#connection.file, this.#policy);
    try {
      yield* items.export(selection);
    } finally {
      items.close();
    }
  }

  async importItems(
    source: AsyncIterable<StoreItem>,
    options: ItemImportOptions = {},
  ): Promise<readonly SessionKey[]> {
    this.#assertOpen();
    const items = await SqliteItems.open(this.#connection.file, this.#policy);
    try {
      const keys = await items.import(source, options, this.#failpoints);
      this.#feed.publish(keys);
      return keys;
    } finally {
      items.close();
    }
  }

  async vacuum({ full = false }: VacuumOptions = {}): Promise<VacuumResult> {
    const { file } = this.#connection;
    const bytesBefore = measureFile(file);
    // An empty owner is nobody's.
    const others = full ? await this.#findOtherLiveOwners('') : [];
    const elsewhere = others.filter((owner) => !this.#owners.hasJoined(owner));
    if (elsewhere.length > 0) throw new StoreInUseError(file, elsewhere.length);
    await this.#removeGarbage();
    try {
      if (full) await retryBusy(this.#policy, () => this.#connection.vacuum());
      await retryBusy(this.#policy, () => this.#connection.checkpoint());
    } catch (error) {
      throw this.#connection.toStoreError(error);
    }
    return { bytesBefore, bytesAfter: measureFile(file) };
  }

  subscribe(listener: StoreListener): () => void {
    this.#assertOpen();
    const unsubscribe = this.#feed.add(listener);
    this.#externalChanges.start();
    return () => {
      unsubscribe();
      if (this.#feed.size === 0) this.#externalChanges.stop();
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#externalChanges.stop();
    // A failure here is harmless: the next owner that joins finds these owners dead and removes them.
    await Promise.allSettled(this.#owners.localOwners.map((owner) => this.leave(owner)));
    await this.#writes.close();
    this.#feed.clear();
    this.#connection.close();
    this.#walLossDetector.close();
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosedError();
  }

  #assertJoined(owner: OwnerId): void {
    if (this.#owners.hasJoined(owner)) return;
    throw new InvalidInputError('owner', 'must join the store before it owns sessions.');
  }

  /**
   * True when another process may have left work for a runtime here. It asks no owner whether it lives: the work of one
   * that was killed is found by the next scan of a runtime.
   */
  #mayHaveWork(): boolean {
    try {
      return this.#connection.read(() => {
        const owners = JSON.stringify(this.#owners.listOwners());
        const haveOwnersChanged = owners !== this.#seenOwners;
        this.#seenOwners = owners;
        return haveOwnersChanged || this.#sessions.hasWorkFor(this.#owners.localOwners);
      });
    } catch {
      // Another process has the lock, or the file cannot be read. A scan reports what lasts.
      return true;
    }
  }

  async #findOtherLiveOwners(owner: OwnerId): Promise<readonly OwnerId[]> {
    const owners = await this.#read(() => this.#owners.listOwners());
    return this.#owners.filterAlive(owners.filter((other) => other !== owner));
  }

  async #read<T>(body: () => T): Promise<T> {
    this.#assertOpen();
    try {
      return await retryBusy(this.#policy, () => this.#connection.read(body));
    } catch (error) {
      throw this.#connection.toStoreError(error);
    }
  }

  /** Reads items after a step in pages. Each page is one consistent read; the event loop runs between pages. */
  async *#pages<T extends { readonly step: StepNumber }>(
    key: SessionKey,
    first: (head: SessionHead) => StepNumber,
    pageAfter: (head: SessionHead, last: StepNumber) => readonly T[],
  ): AsyncGenerator<T, void, undefined> {
    let uid: string | undefined;
    let last: StepNumber | undefined;
    for (;;) {
      const page = await this.#read(() => {
        const head = this.#sessions.getHead(key);
        uid ??= head.uid;
        if (head.uid !== uid) throw new SessionNotFoundError(key, true);
        return pageAfter(head, (last ??= first(head)));
      });
      yield* page;
      if (page.length < STEPS_PER_PAGE) return;
      last = page.at(-1)?.step;
      await setImmediate();
    }
  }

  /** Removes the data of deleted sessions. What cannot be removed now is removed by the next call. */
  async #removeGarbage(): Promise<void> {
    try {
      while (!(await this.#read(() => this.#garbage.isEmpty()))) {
        await this.#writes.add(() => this.#garbage.removeSome());
      }
    } catch {
      // The data is unreachable already, and the next `join` or `delete` continues.
    }
  }
}

/** Bytes of a database with its log. */
function measureFile(file: string): number {
  return [file, `${file}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
