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
import { parsePosition } from '../rules/parse-position.ts';
import { commitSteps, packStep } from './commit-steps.ts';
import { parseNoticePayload, toNoticePayloads, type ChangedSession } from './change-notices.ts';
import { READ_XID } from './database.ts';
import type { ClosingStatement, Database } from './database.ts';
import { STEPS_PER_PAGE } from '../encoding/numbered-items.ts';
import { JournalRows } from './journal-rows.ts';
import type { JournalPage } from './journal-rows.ts';
import { PostgresOwnerRegistry } from './owner-registry.ts';
import type { PostgresStoreOptions } from './postgres-store-options.ts';
import { quotedSchema } from './schema.ts';
import { SessionRows, toSessionRow } from './session-rows.ts';
import { readSharedState } from './shared-rows.ts';
import { writeSubmission, type WrittenSubmission } from './write-submission.ts';
import { deleteSessions } from './delete-sessions.ts';
import { listDocumentRows, readDocumentRow, writeDocumentRows } from './document-rows.ts';
import { readChanges } from './change-rows.ts';
import { findInput, injectInput, readInbox } from './inbox-rows.ts';
import { findRunnableRows } from './runnable-rows.ts';
import { listPendingCallRows } from './pending-call-rows.ts';
import { readUsage } from './usage-rows.ts';
import { InDoubtCommits } from './in-doubt-commits.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';
import { checkStep, isAtOtherStep } from '../rules/step-rules.ts';
import { listChangedSessions, checkInputs } from '../rules/submission-rules.ts';
import { SessionNotFoundError, StoreClosedError } from '../store-errors.ts';
import type {
  ClaimResult,
  CommitResult,
  CommittedStep,
  InboxRow,
  InjectReceipt,
  InboxInput,
  InputSeq,
  OwnerId,
  PendingCallQuery,
  RunnablePage,
  RunnableQuery,
  SessionChangePage,
  SessionChangeQuery,
  SessionFilter,
  SessionPendingCall,
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
} from '../store.ts';

/** A store in a PostgreSQL database. Open it with `openStore`. */
export class PostgresStore implements Store {
  readonly durability = 'crash' as const;

  readonly #database: Database;
  /** The quoted name of the schema. */
  readonly #schema: string;
  readonly #channel: string;
  readonly #newUid: () => string;
  /** Distinguishes the notifications of this store object from those of others. */
  readonly #name: string = newSessionUid();
  readonly #feed = new ChangeFeed();
  readonly #owners: PostgresOwnerRegistry;
  readonly #sessions: SessionRows;
  readonly #journal: JournalRows;
  readonly #inDoubt: InDoubtCommits;
  #closing: Promise<void> | undefined;

  constructor(database: Database, schema: string, options: PostgresStoreOptions) {
    this.#database = database;
    this.#schema = quotedSchema(schema);
    this.#channel = `petrichor.${schema}`;
    this.#newUid = options.newUid ?? newSessionUid;
    this.#owners = new PostgresOwnerRegistry({
      database,
      schema: this.#schema,
      channel: this.#channel,
      now: options.now ?? (() => performance.now()),
      absenceMs: options.absenceMs ?? 5000,
      restartAbsenceMs: options.restartAbsenceMs ?? 30_000,
      checkMs: options.checkMs ?? 5000,
      onNotification: (payload) => this.#onNotification(payload),
    });
    this.#sessions = new SessionRows(this.#schema);
    this.#journal = new JournalRows(this.#schema, database.location);
    this.#inDoubt = new InDoubtCommits(async (xid) => database.isCommitted(xid));
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
    init: {
      readonly agent: string;
      readonly owner: OwnerId;
      readonly at: number;
      readonly netHash: string;
    },
  ): Promise<{ readonly row: SessionRow; readonly created: boolean }> {
    const parsed = parseSessionKey(key);
    parseIdentity(init.agent, 'agent');
    let uid: string | undefined;
    for (;;) {
      const present = await this.#sessions.find(this.#database, parsed);
      // The row has this uid when an earlier insert succeeded but its connection broke before the answer.
      if (present !== undefined)
        return { row: toSessionRow(present), created: present.uid === uid };
      this.#assertJoined(init.owner);
      uid ??= this.#newUid();
      const inserted = await this.#sessions.insert(this.#database, parsed, { ...init, uid });
      if (inserted !== undefined) {
        this.#feed.publish([parsed]);
        return { row: toSessionRow(inserted), created: true };
      }
      // Another client created the session in between.
    }
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    const row = await this.#sessions.find(this.#database, key);
    return row === undefined ? undefined : toSessionRow(row);
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    return (await this.#sessions.list(this.#database, filter)).map(toSessionRow);
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
    expected?: Pick<SessionRow, 'uid' | 'head'>,
  ): Promise<ClaimResult> {
    this.#assertJoined(owner);
    this.#owners.assertVisible(owner);
    const present = await this.#sessions.get(this.#database, key);
    if (isAtOtherStep(present, expected)) return { ok: false, changed: toSessionRow(present) };
    // The common case needs no write.
    if (present.owner === owner) return { ok: true, row: toSessionRow(present), recovered: false };
    return this.#database.write<ClaimResult>(async (queries) => {
      const row = await this.#sessions.lock(queries, key);
      if (isAtOtherStep(row, expected)) return { ok: false, changed: toSessionRow(row) };
      if (row.owner === owner) return { ok: true, row: toSessionRow(row), recovered: false };
      const recovered = row.in_flight > 0;
      if (recovered && row.owner !== null) {
        const alive = await this.#owners.findAlive(queries);
        if (alive.has(row.owner)) return { ok: false, owned: row.owner };
      }
      await queries.rows(
        `UPDATE ${this.#schema}.sessions SET owner = $1, epoch = epoch + 1 WHERE id = $2`,
        [owner, row.id],
      );
      const owned = { ...row, owner, epoch: row.epoch + 1 };
      return { ok: true, row: toSessionRow(owned), recovered };
    });
  }

  async evict(key: SessionKey, from?: OwnerId): Promise<{ readonly evicted: OwnerId | null }> {
    const result = await this.#database.write(
      async (queries) => {
        const { id, owner: evicted } = await this.#sessions.lock(queries, key);
        if (evicted === null || (from ?? evicted) !== evicted) return { evicted: null };
        await queries.rows(
          `UPDATE ${this.#schema}.sessions SET owner = NULL, epoch = epoch + 1 WHERE id = $1`,
          [id],
        );
        return { evicted };
      },
      {
        closingStatement: ({ evicted }) =>
          evicted === null ? READ_XID : this.#notification([{ key, inputFor: null }]),
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
    return this.#database.write(
      async (queries) => commitSteps(queries, this.#schema, this.#sessions, packed),
      {
        closingStatement: (results) => {
          const changed = steps.filter((_, index) => results[index]?.ok === true);
          return changed.length > 0 ? this.#notification(changed) : READ_XID;
        },
        // Several steps do not wait for the lock of one of them; the committer then retries each alone.
        waitsForLocks: steps.length === 1,
        onInDoubt: (results, xid) => this.#inDoubt.add(steps, results, xid),
      },
    );
  }

  async inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    encodeJson(input.value, 'input.value');
    const value = JSON.stringify(input.value);
    let inputFor: OwnerId | null = null;
    const receipt = await this.#database.write<InjectReceipt>(
      async (queries) => {
        const row = await this.#sessions.lock(queries, key);
        inputFor = row.owner;
        return injectInput(queries, this.#schema, row, { place: input.place, value, dedupeKey });
      },
      {
        closingStatement: ({ duplicate }) =>
          duplicate ? READ_XID : this.#notification([{ key, inputFor }]),
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
        writeSubmission(queries, this.#schema, this.#sessions, {
          documents: checked,
          sessions: newSessions,
          inputs,
        }),
      {
        closingStatement: ({ result: done, owners }) => {
          const changed = (done.ok ? listChangedSessions(inputs, done.receipts) : []).map(
            (key) => ({ key, inputFor: owners.get(formatSessionKey(key)) ?? null }),
          );
          return changed.length > 0 ? this.#notification(changed) : READ_XID;
        },
      },
    );
    if (result.ok) this.#feed.publish(listChangedSessions(inputs, result.receipts));
    return result;
  }

  async findInput(key: SessionKey, dedupeKey: string): Promise<InputSeq | undefined> {
    parseIdentity(dedupeKey, 'dedupeKey');
    const { id } = await this.#sessions.get(this.#database, key);
    return findInput(this.#database, this.#schema, id, dedupeKey);
  }

  async inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]> {
    parsePosition(after, 'after');
    const { id } = await this.#sessions.get(this.#database, key);
    return readInbox(this.#database, this.#schema, id, after);
  }

  async snapshot(
    key: SessionKey,
  ): Promise<{ readonly step: StepNumber; readonly marking: Json } | undefined> {
    const { id } = await this.#sessions.get(this.#database, key);
    return this.#journal.snapshot(this.#database, key, id);
  }

  async *steps(key: SessionKey, after: StepNumber): AsyncGenerator<CommittedStep, void, undefined> {
    const from = parsePosition(after, 'after');
    yield* this.#pages(key, async (last) =>
      this.#journal.steps(this.#database, key, last?.step ?? from),
    );
  }

  async *listSteps(
    key: SessionKey,
    fromRecord: RecordSeq,
  ): AsyncGenerator<CommittedStep, void, undefined> {
    const from = parsePosition(fromRecord, 'fromRecord');
    yield* this.#pages(key, async (last) =>
      this.#journal.listSteps(this.#database, key, last?.step ?? 0, from),
    );
  }

  async *read(key: SessionKey, from: Seq = 0): AsyncGenerator<LogEvent, void, undefined> {
    const after = parsePosition(from, 'from');
    yield* this.#pages(key, async (last) =>
      this.#journal.events(this.#database, key, last?.seq ?? after),
    );
  }

  async findRunnable(query: RunnableQuery): Promise<RunnablePage> {
    const { dead } = this.#owners;
    const found = await findRunnableRows(this.#database, this.#schema, { ...query, dead });
    this.#owners.observe(found.owners);
    return { sessions: found.rows.map(toSessionRow), nextDueAt: found.due ?? undefined };
  }

  async recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const { failures } = await this.#sessions.get(this.#database, key);
    // The common case needs no write.
    if (ok && failures === 0) return { quarantined: false };
    return this.#database.write(async (queries) => {
      const row = await this.#sessions.lock(queries, key);
      const counted = ok ? 0 : row.failures + 1;
      await queries.rows(
        `UPDATE ${this.#schema}.sessions SET failures = $1, changed = pg_current_xact_id() WHERE id = $2`,
        [counted, row.id],
      );
      return { quarantined: counted >= MAX_HYDRATION_FAILURES };
    });
  }

  async pendingCalls(query: PendingCallQuery): Promise<readonly SessionPendingCall[]> {
    return listPendingCallRows(this.#database, this.#schema, query);
  }

  async changes(query: SessionChangeQuery): Promise<SessionChangePage> {
    return readChanges(this.#database, this.#schema, query);
  }

  async touch(key: SessionKey): Promise<void> {
    const touched = await this.#database.write(
      async (queries) => {
        const row = await this.#sessions.find(queries, key);
        if (row === undefined) return false;
        const { id } = await this.#sessions.lock(queries, key);
        await queries.rows(
          `UPDATE ${this.#schema}.sessions SET changed = pg_current_xact_id() WHERE id = $1`,
          [id],
        );
        return true;
      },
      { closingStatement: (done) => (done ? this.#notification([{ key }]) : READ_XID) },
    );
    if (touched) this.#feed.publish([key]);
  }

  async usage(query: UsageQuery): Promise<readonly UsageTotal[]> {
    return readUsage(this.#database, this.#schema, query);
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    return readSharedState(this.#database, this.#schema, scope);
  }

  async delete(key: SessionKey): Promise<boolean> {
    const deleted = await this.#database.write(
      async (queries) => deleteSessions(queries, this.#schema, this.#sessions, key),
      {
        closingStatement: (done) =>
          done.length > 0 ? this.#notification(done.map((one) => ({ key: one }))) : READ_XID,
      },
    );
    if (deleted.length > 0) this.#feed.publish(deleted);
    return deleted.some(({ sessionId }) => sessionId === key.sessionId);
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    return readDocumentRow(this.#database, this.#schema, kind, id);
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    return listDocumentRows(this.#database, this.#schema, query);
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    const checked = checkChanges(changes);
    return this.#database.write(async (queries) =>
      writeDocumentRows(queries, this.#schema, checked),
    );
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
    // The timers of retries do not keep the process alive, so this one must, until the pending calls have ended.
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

  /** A closing statement that notifies other processes of changes, and returns the transaction id. */
  #notification(changed: readonly ChangedSession[]): ClosingStatement {
    return [
      'SELECT pg_notify($1, payload), pg_current_xact_id()::text AS xid FROM unnest($2::text[]) AS payload',
      [this.#channel, toNoticePayloads(this.#name, changed)],
    ];
  }

  /** @param payload undefined when notices may have been missed */
  #onNotification(payload: string | undefined): void {
    if (payload === undefined) {
      this.#feed.publish('any');
      return;
    }
    const { writer, changed } = parseNoticePayload(payload);
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
      if (page === undefined) throw await this.#sessions.notFound(this.#database, key);
      uid ??= page.uid;
      if (page.uid !== uid) throw new SessionNotFoundError(key, true);
      yield* page.items;
      if (page.steps < STEPS_PER_PAGE) return;
      last = page.items.at(-1) ?? last;
    }
  }
}

const STALE: CommitResult = { ok: false, refused: 'stale' };
