import {
  encodeJson,
  formatSessionKey,
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
import { checkChanges } from '../rules/document-rules.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import { checkSessionFilter } from '../rules/list-filters.ts';
import { toSessionCounts } from '../rules/row-status.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { commitSteps } from './commit-steps.ts';
import type { ChangedSession, ChangeNotice } from './change-notices.ts';
import { STEPS_PER_PAGE } from '../encoding/numbered-items.ts';
import { JournalReader, type JournalPage } from './journal-reader.ts';
import { packStep } from './packed-step.ts';
import {
  getSession,
  lockSession,
  notFound,
  type ListPosition,
  type ServerTables,
} from './server-tables.ts';
import { toInboxRow } from './inbox-row.ts';
import { toSessionKey, toSessionRow } from './session-row.ts';
import { injectInput, writeSubmission, type WrittenSubmission } from './write-submission.ts';
import { InDoubtCommits } from './in-doubt-commits.ts';
import type { OwnerRegistry, ServerDatabase } from './server-database.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';
import { areUnchanged, checkDeleteCondition } from '../rules/delete-rules.ts';
import { checkReplacement, isExpected } from '../rules/replace-rules.ts';
import { checkStep, isAtOtherStep } from '../rules/step-rules.ts';
import { listChangedSessions, checkInputs } from '../rules/submission-rules.ts';
import { planTrim } from '../encoding/plan-trim.ts';
import { checkTrim } from '../rules/trim-rules.ts';
import { packTrim } from './trim-writes.ts';
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
import type { ExportSelection, ItemImportOptions, StoreItem } from '../store-item.ts';
import { writeItems } from '../copies/write-items.ts';
import { exportItems } from './export-items.ts';
import { createItemWriter } from './item-writer.ts';

/** The space that the tables of a store take on the disk of its server. */
export interface DiskSpace {
  /** Bytes, with indexes. */
  readonly measure: () => Promise<number>;
  /**
   * Makes the space of deleted rows usable again.
   * @param isFull writes the tables anew, which locks them
   */
  readonly vacuum: (isFull: boolean) => Promise<void>;
}

/** What a store on a database server is made of. */
export interface ServerStoreParts<R, W extends R> {
  readonly database: ServerDatabase<R, W>;
  readonly tables: ServerTables<R, W>;
  readonly space: DiskSpace;
  /** @param onNotice gets what other processes changed; undefined when some of it may have been missed */
  readonly createOwners: (onNotice: (notice: ChangeNotice | undefined) => void) => OwnerRegistry<R>;
  /** The `writer` in the notices of this store object. */
  readonly name: string;
  /** Creates the uid of a new session. Default: random. */
  readonly newUid: (() => string) | undefined;
}

/** A store in a database on a server. `R` runs each statement on its own, `W` in a transaction. */
export class ServerStore<R, W extends R> implements Store {
  readonly durability = 'crash' as const;

  readonly #database: ServerDatabase<R, W>;
  readonly #tables: ServerTables<R, W>;
  readonly #space: DiskSpace;
  readonly #owners: OwnerRegistry<R>;
  readonly #newUid: () => string;
  /** Distinguishes the notices of this store object from those of others. */
  readonly #name: string;
  readonly #feed = new ChangeFeed();
  readonly #journal: JournalReader<R>;
  readonly #inDoubt: InDoubtCommits;
  #closing: Promise<void> | undefined;

  constructor({ database, tables, space, createOwners, name, newUid }: ServerStoreParts<R, W>) {
    this.#database = database;
    this.#tables = tables;
    this.#space = space;
    this.#newUid = newUid ?? newSessionUid;
    this.#name = name;
    this.#owners = createOwners((notice) => this.#onNotice(notice));
    this.#journal = new JournalReader(tables, database.location);
    this.#inDoubt = new InDoubtCommits(async (id) => database.isCommitted(id));
  }

  /** Starts to receive notifications of other processes. */
  async listen(): Promise<void> {
    await this.#owners.listen();
  }

  async join(owner: OwnerId): Promise<void> {
    this.#assertOpen();
    parseIdentity(owner, 'owner');
    await this.#owners.join(owner);
  }

  async leave(owner: OwnerId): Promise<void> {
    await this.#owners.leave(owner);
  }

  async create(
    key: SessionKey,
    init: SessionInit,
  ): Promise<{ readonly row: SessionRow; readonly created: boolean }> {
    const parsed = parseSessionKey(key);
    parseIdentity(init.agent, 'agent');
    let uid: string | undefined;
    for (;;) {
      const present = await this.#tables.findSession(this.#database.readsByKey, parsed);
      // The row has this uid when an earlier insert succeeded but its connection broke before the answer.
      if (present !== undefined)
        return { row: toSessionRow(present), created: present.uid === uid };
      this.#assertJoined(init.owner);
      uid ??= this.#newUid();
      const inserted = await this.#database.insertSession(this.#tables, parsed, { ...init, uid });
      if (inserted !== undefined) {
        this.#feed.publish([parsed]);
        return { row: toSessionRow(inserted), created: true };
      }
      // Another client created the session in between.
    }
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    const row = await this.#tables.findSession(this.#database.readsByKey, key);
    return row === undefined ? undefined : toSessionRow(row);
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    checkSessionFilter(filter);
    const after = await this.#getListPosition(filter);
    const rows = await this.#tables.listSessions(this.#database.queries, filter, after);
    return rows.map(toSessionRow);
  }

  async countSessions(filter: SessionCountFilter): Promise<SessionCounts> {
    checkSessionFilter(filter);
    return toSessionCounts(await this.#tables.countSessions(this.#database.queries, filter));
  }

  async countBytes(filter: SessionCountFilter): Promise<number> {
    checkSessionFilter(filter);
    return this.#tables.countBytes(this.#database.queries, filter);
  }

  async listUsers(query: UserQuery): Promise<readonly string[]> {
    return this.#tables.listUsers(this.#database.queries, query);
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
    expected?: Pick<SessionRow, 'uid' | 'head'>,
  ): Promise<ClaimResult> {
    this.#assertJoined(owner);
    this.#owners.assertVisible(owner);
    const present = await getSession(this.#tables, this.#database.readsByKey, key);
    if (isAtOtherStep(present, expected)) return { ok: false, changed: toSessionRow(present) };
    // The common case needs no write.
    if (present.owner === owner) return { ok: true, row: toSessionRow(present), recovered: false };
    return this.#database.write<ClaimResult>(async (queries) => {
      const row = await lockSession(this.#tables, queries, key);
      if (isAtOtherStep(row, expected)) return { ok: false, changed: toSessionRow(row) };
      if (row.owner === owner) return { ok: true, row: toSessionRow(row), recovered: false };
      const recovered = row.in_flight > 0;
      if (recovered && row.owner !== null) {
        const alive = await this.#owners.findAlive(queries);
        if (alive.has(row.owner)) return { ok: false, owned: row.owner };
      }
      await this.#tables.setOwner(queries, row.id, owner);
      const owned = { ...row, owner, epoch: row.epoch + 1 };
      return { ok: true, row: toSessionRow(owned), recovered };
    });
  }

  async evict(key: SessionKey, from?: OwnerId): Promise<{ readonly evicted: OwnerId | null }> {
    const result = await this.#database.write(
      async (queries) => {
        const { id, owner: evicted } = await lockSession(this.#tables, queries, key);
        if (evicted === null || (from ?? evicted) !== evicted) return { evicted: null };
        await this.#tables.setOwner(queries, id, null);
        return { evicted };
      },
      {
        changed: ({ evicted }) => (evicted === null ? [] : [{ key, inputFor: null }]),
      },
    );
    if (result.evicted !== null) this.#feed.publish([key]);
    return result;
  }

  async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    this.#assertOpen();
    for (const step of steps) checkStep(step);
    if (steps.length === 0) return [];
    // The effects of a step start as soon as it is durable. Other processes must see its owner as alive by then.
    for (const { owner } of steps) this.#owners.assertVisible(owner);
    const known = await this.#inDoubt.resolve(steps);
    const fresh = steps.filter((step) => !known.has(step));
    const written = fresh.length === 0 ? [] : await this.#write(fresh);
    const resultByStep = new Map([
      ...known,
      ...fresh.map((step, index) => [step, written[index]] as const),
    ]);
    const results = steps.map((step) => resultByStep.get(step) ?? STALE);
    this.#feed.publish(
      steps.filter((_, index) => results[index]?.ok === true).map(({ key }) => key),
    );
    return results;
  }

  async #write(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    const packed = steps.map(packStep);
    return this.#database.write(async (queries) => commitSteps(queries, this.#tables, packed), {
      changed: (results) => steps.filter((_, index) => results[index]?.ok === true),
      // Several steps do not wait for the lock of one of them; the committer then retries each alone.
      waitsForLocks: steps.length === 1,
      onInDoubt: (results, id) => this.#inDoubt.add(steps, results, id),
    });
  }

  async inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    encodeJson(input.value, 'input.value');
    const value = JSON.stringify(input.value);
    let inputFor: OwnerId | null = null;
    const receipt = await this.#database.write<InjectReceipt>(
      async (queries) => {
        const row = await lockSession(this.#tables, queries, key);
        inputFor = row.owner;
        return injectInput(queries, this.#tables, row, { place: input.place, value, dedupeKey });
      },
      {
        changed: ({ duplicate }) => (duplicate ? [] : [{ key, inputFor }]),
      },
    );
    if (!receipt.duplicate) this.#feed.publish([key]);
    return receipt;
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { documents = [], sessions = [], inputs = [] } = submission;
    checkInputs(inputs);
    const checked = checkChanges(documents);
    const newSessions = sessions.map(({ key, init }) => {
      parseIdentity(init.agent, 'agent');
      this.#assertJoined(init.owner);
      return { key: parseSessionKey(key), init: { ...init, uid: this.#newUid() } };
    });
    const { result } = await this.#database.write<WrittenSubmission>(
      async (queries) =>
        writeSubmission(queries, this.#tables, {
          documents: checked,
          sessions: newSessions,
          inputs,
        }),
      {
        changed: ({ result: done, owners }) =>
          (done.ok ? listChangedSessions(inputs, done.receipts) : []).map((key) => ({
            key,
            inputFor: owners.get(formatSessionKey(key)) ?? null,
          })),
      },
    );
    if (result.ok) this.#feed.publish(listChangedSessions(inputs, result.receipts));
    return result;
  }

  async findInput(key: SessionKey, dedupeKey: string): Promise<InputSeq | undefined> {
    parseIdentity(dedupeKey, 'dedupeKey');
    const { id } = await getSession(this.#tables, this.#database.readsByKey, key);
    return this.#tables.findInput(this.#database.readsByKey, id, dedupeKey);
  }

  async inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]> {
    parsePosition(after, 'after');
    const { id } = await getSession(this.#tables, this.#database.readsByKey, key);
    const rows = await this.#tables.readInbox(this.#database.readsByKey, id, after);
    return rows.map(toInboxRow);
  }

  async snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    const { id } = await getSession(this.#tables, this.#database.readsByKey, key);
    return this.#journal.snapshot(this.#database.readsByKey, key, id);
  }

  async *steps(key: SessionKey, after: StepNumber): AsyncGenerator<CommittedStep, void, undefined> {
    const from = parsePosition(after, 'after');
    yield* this.#pages(key, async (last) =>
      this.#journal.steps(this.#database.readsByKey, key, last?.step ?? from),
    );
  }

  async *listSteps(
    key: SessionKey,
    fromRecord: RecordSeq,
  ): AsyncGenerator<CommittedStep, void, undefined> {
    const from = parsePosition(fromRecord, 'fromRecord');
    yield* this.#pages(key, async (last) =>
      this.#journal.listSteps(this.#database.readsByKey, key, last?.step ?? 0, from),
    );
  }

  async *read(key: SessionKey, from: Seq = 0): AsyncGenerator<LogEvent, void, undefined> {
    const after = parsePosition(from, 'from');
    yield* this.#pages(key, async (last) =>
      this.#journal.events(this.#database.readsByKey, key, last?.seq ?? after),
    );
  }

  async findRunnable(query: RunnableQuery): Promise<RunnablePage> {
    const { dead } = this.#owners;
    const found = await this.#tables.findRunnable(this.#database.queries, { ...query, dead });
    this.#owners.observe(found.owners);
    return { sessions: found.rows.map(toSessionRow), nextDueAt: found.due ?? undefined };
  }

  async recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const { failures } = await getSession(this.#tables, this.#database.readsByKey, key);
    // The common case needs no write.
    if (ok && failures === 0) return { quarantined: false };
    return this.#database.write(async (queries) => {
      const row = await lockSession(this.#tables, queries, key);
      const counted = ok ? 0 : row.failures + 1;
      await this.#tables.setFailures(queries, row.id, counted);
      return { quarantined: counted >= MAX_HYDRATION_FAILURES };
    });
  }

  async pendingCalls(query: PendingCallQuery): Promise<readonly SessionPendingCall[]> {
    return this.#tables.listPendingCalls(this.#database.queries, query);
  }

  async changes(query: SessionChangeQuery): Promise<SessionChangePage> {
    return this.#tables.readChanges(this.#database.queries, query);
  }

  async touch(key: SessionKey): Promise<void> {
    const touched = await this.#database.write(
      async (queries) => {
        const row = await this.#tables.findSession(queries, key);
        if (row === undefined) return false;
        const { id } = await lockSession(this.#tables, queries, key);
        await this.#tables.touchSession(queries, id);
        return true;
      },
      { changed: (done) => (done ? [{ key }] : []) },
    );
    if (touched) this.#feed.publish([key]);
  }

  async usage(query: UsageQuery): Promise<readonly UsageTotal[]> {
    return this.#tables.readUsage(this.#database.queries, query);
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    return this.#tables.readSharedState(this.#database.readsByKey, scope);
  }

  async delete(key: SessionKey, condition?: DeleteCondition): Promise<boolean> {
    const checked = condition && checkDeleteCondition(condition);
    const deleted = await this.#database.write(
      async (queries) => {
        const rows = await this.#tables.lockFamily(queries, key);
        if (rows.length === 0) return [];
        if (checked !== undefined) {
          if (!areUnchanged(rows.map(toSessionRow), checked)) return [];
          // Locked after the sessions without a deadlock: who has a document's lock never waits for a session.
          const written = await this.#tables.writeDocuments(queries, checked.documents);
          if (!written.ok) return [];
        }
        await this.#tables.deleteSessions(queries, rows);
        return rows.map(toSessionKey);
      },
      {
        changed: (done) => done.map((one) => ({ key: one })),
      },
    );
    if (deleted.length > 0) this.#feed.publish(deleted);
    return deleted.some(({ sessionId }) => sessionId === key.sessionId);
  }

  async replace(key: SessionKey, replacement: SessionReplacement): Promise<boolean> {
    const inputs = checkReplacement(key, replacement);
    const { init } = replacement;
    this.#assertJoined(init.owner);
    const created = { key: parseSessionKey(key), init: { ...init, uid: this.#newUid() } };
    const replaced = await this.#database.write(
      async (queries) => {
        const rows = await this.#tables.lockFamily(queries, key);
        const row = rows.find(({ name }) => name === key.sessionId);
        const unread = row === undefined ? 0 : row.last_input - row.inbox_up_to;
        if (!isExpected(row, unread, replacement)) return [];
        await this.#tables.deleteSessions(queries, rows);
        const submission = { documents: [], sessions: [created], inputs };
        await writeSubmission(queries, this.#tables, submission);
        return rows.map(toSessionKey);
      },
      {
        changed: (done) => done.map((one) => ({ key: one })),
      },
    );
    if (replaced.length > 0) this.#feed.publish(replaced);
    return replaced.length > 0;
  }

  async trim(key: SessionKey, trim: JournalTrim): Promise<boolean> {
    const checked = checkTrim(trim);
    const { pending } = toSessionRow(
      await getSession(this.#tables, this.#database.readsByKey, key),
    );
    const snapshot = await this.snapshot(key);
    const plan = await planTrim(checked, {
      steps: (after) => this.steps(key, after),
      listSteps: (fromRecord) => this.listSteps(key, fromRecord),
      snapshot,
      pending,
    });
    if (plan === undefined) return false;
    const writes = packTrim(checked, plan);
    return this.#database.write(async (queries) => {
      const row = await lockSession(this.#tables, queries, key);
      if (isAtOtherStep(row, checked.expected)) return false;
      const lastRecord = await this.#tables.findLastRecord(queries, row.id, plan.first.step);
      if (lastRecord !== plan.first.lastRecord) return false;
      await this.#tables.writeTrim(queries, row.id, writes);
      return true;
    });
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    return this.#tables.readDocument(this.#database.readsByKey, kind, id);
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    return this.#tables.listDocuments(this.#database.queries, query);
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    const checked = checkChanges(changes);
    return this.#database.write(async (queries) => this.#tables.writeDocuments(queries, checked));
  }

  async *exportItems(selection: ExportSelection = {}): AsyncGenerator<StoreItem, void, undefined> {
    this.#assertOpen();
    const { queries, end } = await this.#database.beginRead();
    try {
      yield* exportItems({ queries, tables: this.#tables, journal: this.#journal }, selection);
    } finally {
      await end();
    }
  }

  async importItems(
    items: AsyncIterable<StoreItem>,
    options: ItemImportOptions = {},
  ): Promise<readonly SessionKey[]> {
    const keys = await this.#database.write(
      async (queries) =>
        writeItems(
          items,
          createItemWriter(queries, this.#tables, this.#database.location),
          options,
        ),
      {
        // Runtimes find the work of a whole store by their next scan.
        changed: (written) =>
          options.isWholeStore === true ? [] : written.map((key) => ({ key, inputFor: null })),
      },
    );
    this.#feed.publish(keys);
    return keys;
  }

  async vacuum({ full = false }: VacuumOptions = {}): Promise<VacuumResult> {
    this.#assertOpen();
    if (full) {
      const others = await this.#owners.countConnectedElsewhere(this.#database.queries);
      if (others > 0) throw new StoreInUseError(this.#database.location, others);
    }
    const bytesBefore = await this.#space.measure();
    await this.#space.vacuum(full);
    return { bytesBefore, bytesAfter: await this.#space.measure() };
  }

  subscribe(listener: StoreListener): () => void {
    this.#assertOpen();
    return this.#feed.add(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Idle connections do not keep the process alive, so this timer must, until the store is closed.
    const hold = setInterval(() => {}, 1000);
    await this.#database.close();
    // A failure here is harmless: when the connection is closed, the other processes see these owners as dead.
    await Promise.allSettled(
      this.#owners.localOwners.map(async (owner) => this.#owners.leave(owner)),
    );
    await this.#owners.close();
    clearInterval(hold);
    this.#feed.clear();
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosedError();
  }

  #assertJoined(owner: OwnerId): void {
    this.#assertOpen();
    if (this.#owners.hasJoined(owner)) return;
    throw new InvalidInputError('owner', 'must join the store before it owns sessions.');
  }

  /** @param notice undefined when notices may have been missed */
  #onNotice(notice: ChangeNotice | undefined): void {
    if (notice === undefined) {
      this.#feed.publish('any');
      return;
    }
    const { writer, changed } = notice;
    if (writer === this.#name) return;
    if (changed === 'any') {
      this.#feed.publish('any');
      return;
    }
    const isForOwnerHere = ({ inputFor }: ChangedSession): boolean =>
      inputFor === null || (inputFor !== undefined && this.#owners.hasJoined(inputFor));
    const origins = Map.groupBy(changed, (one) => (isForOwnerHere(one) ? 'input' : 'elsewhere'));
    for (const [origin, sessions] of origins)
      this.#feed.publish(
        sessions.map(({ key }) => key),
        origin,
      );
  }

  /** The values of the sort columns in the session that a list continues after. */
  async #getListPosition(filter: SessionFilter): Promise<Partial<ListPosition> | undefined> {
    if (filter.after === undefined) return undefined;
    if (filter.order !== 'created')
      return getSession(this.#tables, this.#database.queries, filter.after);
    const { createdAt, key } = filter.after;
    return {
      created_at: createdAt,
      app: key.appName,
      user_id: key.userId,
      name: key.sessionId,
    };
  }

  /**
   * Reads items in pages, each page in one statement.
   * @throws SessionNotFoundError when the session is deleted meanwhile
   */
  async *#pages<T>(
    key: SessionKey,
    pageAfter: (last: T | undefined) => Promise<JournalPage<T> | undefined>,
  ): AsyncGenerator<T, void, undefined> {
    let uid: string | undefined;
    let last: T | undefined;
    for (;;) {
      this.#assertOpen();
      const page = await pageAfter(last);
      if (page === undefined) throw await notFound(this.#tables, this.#database.queries, key);
      uid ??= page.uid;
      if (page.uid !== uid) throw new SessionNotFoundError(key, true);
      yield* page.items;
      if (page.steps < STEPS_PER_PAGE) return;
      last = page.items.at(-1) ?? last;
    }
  }
}

const STALE: CommitResult = { ok: false, refused: 'stale' };
