import { omitUndefined } from '../../core/internal.ts';
import {
  encodeJson,
  newSessionUid,
  InvalidInputError,
  type Json,
  type LogEvent,
  type Seq,
  formatSessionKey,
  parseIdentity,
  parseSessionKey,
  type SessionKey,
  formatStateKey,
} from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { ChangeFeed } from '../rules/change-feed.ts';
import { checkChanges, normalizeQuery } from '../rules/document-rules.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import type { Failpoints } from '../failpoints.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { commitSteps, packStep } from './commit-steps.ts';
import { Database, unrefDelay, READ_XID } from './database.ts';
import type { ClosingStatement } from './database.ts';
import { STEPS_PER_PAGE } from '../encoding/numbered-items.ts';
import { JournalRows } from './journal-rows.ts';
import type { JournalPage } from './journal-rows.ts';
import { migrate } from './migrate.ts';
import { PostgresOwnerRegistry } from './owner-registry.ts';
import { quotedSchema } from './schema.ts';
import { toSessionKey, SessionRows, toSessionRow } from './session-rows.ts';
import type { FullRow } from './session-rows.ts';
import { writeDocumentRows } from './document-rows.ts';
import { injectInput } from './inject-input.ts';
import { InDoubtCommits } from './in-doubt-commits.ts';
import { MAX_HYDRATION_FAILURES } from '../rules/quarantine.ts';
import { checkStep } from '../rules/step-rules.ts';
import { listChangedSessions, checkInputs } from '../rules/submission-rules.ts';
import { SessionNotFoundError, StoreClosedError } from '../store-errors.ts';
import type {
  CommitResult,
  CommittedStep,
  InboxRow,
  InjectReceipt,
  InboxInput,
  InputSeq,
  OwnerId,
  SessionFilter,
  SessionRow,
  SettledStep,
  SharedState,
  StepNumber,
  Store,
  StoreListener,
  Submission,
  SubmitResult,
} from '../store.ts';

/** The options of `openStore` for a PostgreSQL URL. */
export interface PostgresStoreOptions {
  /** The schema of the tables. It is created if it does not exist. Default: `petrichor`. */
  readonly schema?: string;
  /** Largest number of connections in the pool. The store uses one more for locks and notifications. Default: 10. */
  readonly maxConnections?: number;
  /** Timeout of opening a connection, in milliseconds. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept, in milliseconds. Default: 30,000. */
  readonly idleTimeoutMs?: number;
  /** Connections older than this are replaced, in milliseconds. Default: no limit. */
  readonly connectionMaxAgeMs?: number;
  /** TLS options, as in `ssl` of `pg`. Default: the setting in the URL. */
  readonly tls?: boolean | object;
  /** How long a call waits for another writer before it fails as busy, in milliseconds. Default: 5000. */
  readonly busyMs?: number;
  /**
   * How long an owner must be without its lock until its sessions can be claimed, in milliseconds. It must be longer
   * than a reconnect takes. Default: 5000.
   */
  readonly absenceMs?: number;
  /**
   * The same after the server restarted or this process reconnected, when all owners reconnect at once, in
   * milliseconds. Default: 30,000.
   */
  readonly restartAbsenceMs?: number;
  /**
   * How often the connection that holds the owner locks is tested, and how long an answer may take, in milliseconds.
   * Default: 5000.
   */
  readonly checkMs?: number;
  /** Milliseconds of a monotonic clock. Default: `performance.now`. */
  readonly now?: () => number;
  /** Called with the text of every statement. */
  readonly onStatement?: (text: string) => void;
  /** Creates the uid of a new session. Default: random. */
  readonly newUid?: () => string;
  /** Waits between two attempts. Default: a timer that does not keep the process alive. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Makes the store fail, in tests. */
  readonly failpoints?: Failpoints;
}

/**
 * Opens a store in a PostgreSQL database, version 13 or later, and creates its tables if they do not exist. Any
 * number of processes on any number of machines can open the same store. The durability of acknowledged writes
 * depends on the settings of the server (`fsync`, `synchronous_commit`). Connect to the server directly, not through
 * a pooler in transaction mode, because the store uses session locks.
 * @throws MissingPostgresPackageError, StoreUnavailableError, ForeignDatabaseError, StoreVersionError,
 * InvalidInputError
 */
export async function openPostgresStore(
  url: string,
  options: PostgresStoreOptions = {},
): Promise<PostgresStore> {
  const schema = options.schema ?? 'petrichor';
  quotedSchema(schema);
  const database = await Database.load({
    url,
    maxConnections: options.maxConnections ?? 10,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
    connectionMaxAgeMs: options.connectionMaxAgeMs ?? 0,
    tls: options.tls,
    busyMs: options.busyMs ?? 5000,
    sleep: options.sleep ?? unrefDelay,
    now: options.now ?? (() => performance.now()),
    failpoints: options.failpoints ?? {},
    onStatement: options.onStatement,
  });
  const store = new PostgresStore(database, schema, options);
  try {
    await migrate(database, schema);
    await store.listen();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

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
      onNotification: (writer) => {
        if (writer !== this.#name) this.#feed.publish('any');
      },
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
      if (inserted !== undefined) return { row: toSessionRow(inserted), created: true };
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
  ): Promise<
    | { readonly ok: true; readonly row: SessionRow; readonly recovered: boolean }
    | { readonly ok: false; readonly owned: OwnerId }
  > {
    this.#assertJoined(owner);
    this.#owners.assertVisible(owner);
    const present = await this.#sessions.get(this.#database, key);
    // The common case needs no write.
    if (present.owner === owner) return { ok: true, row: toSessionRow(present), recovered: false };
    return this.#database.write(async (queries) => {
      const row = await this.#sessions.lock(queries, key);
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

  async evict(key: SessionKey): Promise<{ readonly evicted: OwnerId | null }> {
    const result = await this.#database.write(
      async (queries) => {
        const { id, owner: evicted } = await this.#sessions.lock(queries, key);
        if (evicted !== null)
          await queries.rows(
            `UPDATE ${this.#schema}.sessions SET owner = NULL, epoch = epoch + 1 WHERE id = $1`,
            [id],
          );
        return { evicted };
      },
      { closingStatement: ({ evicted }) => (evicted === null ? READ_XID : this.#notification()) },
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
        closingStatement: (results) =>
          results.some(({ ok }) => ok) ? this.#notification() : READ_XID,
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
    const receipt = await this.#database.write<InjectReceipt>(
      async (queries) => {
        const row = await this.#sessions.lock(queries, key);
        return injectInput(queries, this.#schema, row, { place: input.place, value, dedupeKey });
      },
      { closingStatement: ({ duplicate }) => (duplicate ? READ_XID : this.#notification()) },
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
    const result = await this.#database.write<SubmitResult>(
      async (queries) => {
        // Locks documents before sessions, and sessions in the order of their ids, to avoid deadlocks.
        if (checked.length > 0) {
          const written = await writeDocumentRows(queries, this.#schema, checked);
          if (!written.ok) return written;
        }
        for (const { key, init } of newSessions) await this.#sessions.insert(queries, key, init);
        const keys = inputs.map(({ key }) => key);
        const rows = new Map<string, FullRow>();
        for (const row of keys.length === 0 ? [] : await this.#sessions.lockAll(queries, keys))
          rows.set(formatSessionKey(toSessionKey(row)), row);
        const receipts: InjectReceipt[] = [];
        for (const { key, input, dedupeKey } of inputs) {
          const name = formatSessionKey(key);
          const row = rows.get(name);
          if (row === undefined) throw await this.#sessions.notFound(queries, key);
          const value = JSON.stringify(input.value);
          const receipt = await injectInput(queries, this.#schema, row, {
            place: input.place,
            value,
            dedupeKey,
          });
          receipts.push(receipt);
          if (!receipt.duplicate) rows.set(name, { ...row, last_input: receipt.inputSeq });
        }
        return { ok: true, receipts };
      },
      {
        closingStatement: (done) =>
          done.ok && listChangedSessions(inputs, done.receipts).length > 0
            ? this.#notification()
            : READ_XID,
      },
    );
    if (result.ok) this.#feed.publish(listChangedSessions(inputs, result.receipts));
    return result;
  }

  async inbox(key: SessionKey, after: InputSeq): Promise<readonly InboxRow[]> {
    parsePosition(after, 'after');
    const { id } = await this.#sessions.get(this.#database, key);
    const rows = await this.#database.rows<{
      input: InputSeq;
      key: string;
      place: string;
      value: string;
    }>(
      `SELECT input, key, place, value FROM ${this.#schema}.inbox WHERE session = $1 AND input > $2 ORDER BY input`,
      [id, after],
    );
    return rows.map((row) => ({
      inputSeq: row.input,
      input: { place: row.place, value: parseStoredJson(row.value) },
      key: row.key,
    }));
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

  async findRunnable(query: {
    readonly owner: OwnerId;
    readonly appName?: string;
    readonly agents?: readonly string[];
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly SessionRow[]> {
    const exceptOwners = await this.#findOtherLiveOwners(query.owner);
    const rows = await this.#sessions.findRunnable(this.#database, { ...query, exceptOwners });
    return rows.map(toSessionRow);
  }

  async nextDueAt(query: {
    readonly owner?: OwnerId;
    readonly agents?: readonly string[];
  }): Promise<number | undefined> {
    const { owner, agents } = query;
    const exceptOwners = owner === undefined ? [] : await this.#findOtherLiveOwners(owner);
    return this.#sessions.nextDueAt(this.#database, {
      exceptOwners,
      ...omitUndefined({ agents }),
    });
  }

  async recordHydration(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const { failures } = await this.#sessions.get(this.#database, key);
    // The common case needs no write.
    if (ok && failures === 0) return { quarantined: false };
    return this.#database.write(async (queries) => {
      const row = await this.#sessions.lock(queries, key);
      const counted = ok ? 0 : row.failures + 1;
      await queries.rows(`UPDATE ${this.#schema}.sessions SET failures = $1 WHERE id = $2`, [
        counted,
        row.id,
      ]);
      return { quarantined: counted >= MAX_HYDRATION_FAILURES };
    });
  }

  async shared(scope: { readonly appName: string; readonly userId: string }): Promise<SharedState> {
    const rows = await this.#database.rows<{
      user_id: string;
      name: string;
      value: string | null;
      version: number;
    }>(
      `SELECT user_id, name, value, version FROM ${this.#schema}.shared_state WHERE app = $1 AND user_id IN ('', $2)`,
      [scope.appName, scope.userId],
    );
    const entries: [string, Json][] = [];
    const versions: [string, number][] = [];
    for (const { user_id: user, name, value, version } of rows) {
      const key = formatStateKey(user === '' ? 'app' : 'user', name);
      if (value !== null) entries.push([key, parseStoredJson(value)]);
      versions.push([key, version]);
    }
    return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
  }

  async delete(key: SessionKey): Promise<boolean> {
    const s = this.#schema;
    const deleted = await this.#database.write(
      async (queries) => {
        const rows = await this.#sessions.lockFamily(queries, key);
        const ids = rows.map(({ id }) => id);
        if (rows.length === 0) return [];
        for (const table of ['steps', 'inbox', 'input_keys', 'snapshots', 'blobs'])
          await queries.rows(`DELETE FROM ${s}.${table} WHERE session = ANY($1::bigint[])`, [ids]);
        await queries.rows(`DELETE FROM ${s}.sessions WHERE id = ANY($1::bigint[])`, [ids]);
        await queries.rows(
          `INSERT INTO ${s}.tombstones (app, user_id, name, uid)
           SELECT $1, $2, * FROM unnest($3::text[], $4::text[])
           ON CONFLICT (app, user_id, name) DO UPDATE SET uid = excluded.uid`,
          [key.appName, key.userId, rows.map(({ name }) => name), rows.map(({ uid }) => uid)],
        );
        return rows.map(toSessionKey);
      },
      { closingStatement: (done) => (done.length > 0 ? this.#notification() : READ_XID) },
    );
    if (deleted.length > 0) this.#feed.publish(deleted);
    return deleted.some(({ sessionId }) => sessionId === key.sessionId);
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    const [row] = await this.#database.rows<{ version: number; value: string }>(
      `SELECT version, value FROM ${this.#schema}.documents WHERE kind = $1 AND id = $2`,
      [kind, id],
    );
    return row && { kind, id, version: row.version, value: parseStoredJson(row.value) };
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    const { kind, prefix, after, descending, limit } = normalizeQuery(query);
    const [compare, order] = descending ? ['<', 'DESC'] : ['>', 'ASC'];
    const rows = await this.#database.rows<{ id: string; version: number; value: string }>(
      `SELECT id, version, value FROM ${this.#schema}.documents
       WHERE kind = $1 AND ($2::text IS NULL OR id ${compare} $2) AND id >= $3 AND starts_with(id, $3)
       ORDER BY id ${order} LIMIT $4`,
      [kind, after ?? null, prefix, limit < 0 ? null : limit],
    );
    return rows.map(({ id, version, value }) => ({
      kind,
      id,
      version,
      value: parseStoredJson(value),
    }));
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
    await this.#database.close();
    // A failure here is harmless: when the connection is closed, the other processes see these owners as dead.
    await Promise.allSettled(
      this.#owners.localOwners.map(async (owner) => this.#owners.leave(owner)),
    );
    await this.#owners.close();
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

  async #findOtherLiveOwners(owner: OwnerId): Promise<readonly OwnerId[]> {
    return [...(await this.#owners.findAlive(this.#database))].filter((other) => other !== owner);
  }

  /** A closing statement that notifies other processes of a change, and returns the transaction id. */
  #notification(): ClosingStatement {
    return [
      'SELECT pg_notify($1, $2), pg_current_xact_id()::text AS xid',
      [this.#channel, this.#name],
    ];
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

function parseStoredJson(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}
