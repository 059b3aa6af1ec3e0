import { encodeJson } from '../core/encode-json.ts';
import { newSessionUid } from '../core/ids.ts';
import { InvalidInputError } from '../core/invalid-input-error.ts';
import type { Json } from '../core/json.ts';
import type { LogEvent, Seq } from '../core/log-event.ts';
import {
  formatSessionKey,
  parseIdentity,
  parseSessionKey,
  type SessionKey,
} from '../core/session-key.ts';
import { stateKeyOf } from '../core/state-key.ts';
import type { RecordSeq } from '../net/record.ts';
import { ChangeFeed } from './change-feed.ts';
import { checkChanges, fullQuery } from './document-rules.ts';
import type { DocumentChange, DocumentQuery, DocumentResult, StoredDocument } from './documents.ts';
import type { Failpoints } from './failpoints.ts';
import { parsePosition } from './position.ts';
import { commitSteps, packStep } from './postgres/commit-steps.ts';
import { Database, quietly, SIGNATURE } from './postgres/database.ts';
import type { Queries, Signature } from './postgres/database.ts';
import { JournalRows, STEPS_IN_PAGE } from './postgres/journal-rows.ts';
import type { Page } from './postgres/journal-rows.ts';
import { migrate } from './postgres/migrate.ts';
import { Presence } from './postgres/presence.ts';
import { quotedSchema } from './postgres/schema.ts';
import { keyOf, SessionRows, sessionRowOf } from './postgres/session-rows.ts';
import type { FullRow } from './postgres/session-rows.ts';
import { writeDocumentRows } from './postgres/document-rows.ts';
import { injectInput } from './postgres/inject-input.ts';
import { UnheardCommits } from './postgres/unheard-commits.ts';
import { MAX_FAILURES } from './quarantine.ts';
import { checkStep } from './step-rules.ts';
import { changedBy, checkInputs } from './submission-rules.ts';
import { SessionNotFoundError, StoreClosedError } from './store-errors.ts';
import type {
  CommitResult,
  CommittedStep,
  InboxRow,
  InjectReceipt,
  Input,
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
} from './store.ts';

/** Where in its database a store keeps its tables, how it connects, and how long it waits for others. */
export interface PostgresStoreOptions {
  /** The schema of its tables, made if there is none; `petrichor` unless given. */
  readonly schema?: string;
  /** How many connections there are at most, 10 unless given. One more listens. */
  readonly maxConnections?: number;
  /** How long a new connection may take, 10,000 ms unless given. */
  readonly connectTimeoutMs?: number;
  /** How long a connection that nobody uses is kept, 30,000 ms unless given. */
  readonly idleTimeoutMs?: number;
  /** A connection that is older is replaced; any age unless given. */
  readonly connectionMaxAgeMs?: number;
  /** TLS as `pg` takes it in `ssl`; as the URL says unless given. */
  readonly tls?: boolean | object;
  /** How long a call waits for another writer before it is refused as busy, in milliseconds; 5,000 unless given. */
  readonly busyMs?: number;
  /**
   * How long an owner must be without its lock, in milliseconds, before its sessions may be taken; 5,000 unless given. It
   * must be longer than a connection takes that is made anew.
   */
  readonly absenceMs?: number;
  /** The same after the server restarted, or this process lost it: all come back at once then; 30,000 unless given. */
  readonly restartAbsenceMs?: number;
  /**
   * How often the connection that shows this process alive is tried, in milliseconds, and how long its answer may take;
   * 5,000 unless given.
   */
  readonly checkMs?: number;
  /** Milliseconds on a clock that never goes back; `performance.now` unless given. */
  readonly now?: () => number;
  /** Gets the text of every statement. */
  readonly onStatement?: (text: string) => void;
  /** Names incarnations of sessions; random unless given. */
  readonly newUid?: () => string;
  /** Waits between two tries; a timer that does not keep the process alive unless given. */
  readonly sleep?: (ms: number) => Promise<void>;
  readonly failpoints?: Failpoints;
}

/**
 * Opens the store in a PostgreSQL database, version 13 or later, its tables made if there are none. Any number of
 * processes of any number of machines may open it at once. What it acknowledges is as durable as the server's own
 * settings (`fsync`, `synchronous_commit`) say. It needs connections of its own to the server, not through a pool that
 * gives each transaction another one.
 * @throws MissingPostgresPackageError, StoreUnavailableError, ForeignDatabaseError, StoreVersionError, InvalidInputError
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
    sleep: options.sleep ?? quietly,
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

/** A store in a PostgreSQL database. Made by `openPostgresStore`. */
export class PostgresStore implements Store {
  readonly durability = 'crash' as const;

  readonly #database: Database;
  /** As SQL writes it. */
  readonly #schema: string;
  readonly #channel: string;
  readonly #newUid: () => string;
  /** Tells its own notifications from those of others. */
  readonly #name: string = newSessionUid();
  readonly #feed = new ChangeFeed();
  readonly #presence: Presence;
  readonly #sessions: SessionRows;
  readonly #journal: JournalRows;
  readonly #unheard: UnheardCommits;
  #closing: Promise<void> | undefined;

  constructor(database: Database, schema: string, options: PostgresStoreOptions) {
    this.#database = database;
    this.#schema = quotedSchema(schema);
    this.#channel = `petrichor.${schema}`;
    this.#newUid = options.newUid ?? newSessionUid;
    this.#presence = new Presence({
      database,
      schema: this.#schema,
      channel: this.#channel,
      now: options.now ?? (() => performance.now()),
      absenceMs: options.absenceMs ?? 5000,
      restartAbsenceMs: options.restartAbsenceMs ?? 30_000,
      checkMs: options.checkMs ?? 5000,
      heard: (writer) => {
        if (writer !== this.#name) this.#feed.tell('any');
      },
    });
    this.#sessions = new SessionRows(this.#schema);
    this.#journal = new JournalRows(this.#schema, database.location);
    this.#unheard = new UnheardCommits(async (xid) => database.isCommitted(xid));
  }

  /** Begins to hear of what other processes write. */
  async listen(): Promise<void> {
    await this.#presence.listen();
  }

  async join(owner: OwnerId): Promise<void> {
    this.#mustBeOpen();
    parseIdentity(owner, 'owner');
    await this.#presence.join(owner);
  }

  async leave(owner: OwnerId): Promise<void> {
    await this.#presence.leave(owner);
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
      // It has our uid when it was made over a connection that broke before it could say so.
      if (present !== undefined)
        return { row: sessionRowOf(present), created: present.uid === uid };
      this.#mustHaveJoined(init.owner);
      uid ??= this.#newUid();
      const made = await this.#sessions.insert(this.#database, parsed, { ...init, uid });
      if (made !== undefined) return { row: sessionRowOf(made), created: true };
      // Somebody else made it in between.
    }
  }

  async find(key: SessionKey): Promise<SessionRow | undefined> {
    const row = await this.#sessions.find(this.#database, key);
    return row === undefined ? undefined : sessionRowOf(row);
  }

  async list(filter: SessionFilter): Promise<readonly SessionRow[]> {
    return (await this.#sessions.list(this.#database, filter)).map(sessionRowOf);
  }

  async claim(
    key: SessionKey,
    owner: OwnerId,
  ): Promise<
    | { readonly ok: true; readonly row: SessionRow; readonly recovered: boolean }
    | { readonly ok: false; readonly owned: OwnerId }
  > {
    this.#mustHaveJoined(owner);
    this.#presence.mustBeSeen(owner);
    const present = await this.#sessions.get(this.#database, key);
    // The usual case costs no write.
    if (present.owner === owner) return { ok: true, row: sessionRowOf(present), recovered: false };
    return this.#database.write(async (queries) => {
      const row = await this.#sessions.locked(queries, key);
      if (row.owner === owner) return { ok: true, row: sessionRowOf(row), recovered: false };
      const recovered = row.in_flight > 0;
      if (recovered && row.owner !== null && (await this.#alive(queries)).has(row.owner))
        return { ok: false, owned: row.owner };
      await queries.rows(
        `UPDATE ${this.#schema}.sessions SET owner = $1, epoch = epoch + 1 WHERE id = $2`,
        [owner, row.id],
      );
      const owned = { ...row, owner, epoch: row.epoch + 1 };
      return { ok: true, row: sessionRowOf(owned), recovered };
    });
  }

  async evict(key: SessionKey): Promise<{ readonly evicted: OwnerId | null }> {
    const result = await this.#database.write(
      async (queries) => {
        const { id, owner: evicted } = await this.#sessions.locked(queries, key);
        if (evicted !== null)
          await queries.rows(
            `UPDATE ${this.#schema}.sessions SET owner = NULL, epoch = epoch + 1 WHERE id = $1`,
            [id],
          );
        return { evicted };
      },
      { sign: ({ evicted }) => (evicted === null ? SIGNATURE : this.#notice()) },
    );
    if (result.evicted !== null) this.#feed.tell([key]);
    return result;
  }

  async commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    this.#mustBeOpen();
    for (const step of steps) checkStep(step);
    if (steps.length === 0) return [];
    // What a step starts is done as soon as it is durable: by then nobody may take its owner for dead.
    for (const { owner } of steps) this.#presence.mustBeSeen(owner);
    const known = await this.#unheard.resolve(steps);
    const fresh = steps.filter((step) => !known.has(step));
    const written = fresh.length === 0 ? [] : await this.#write(fresh);
    const heard = new Map([
      ...known,
      ...fresh.map((step, index) => [step, written[index]] as const),
    ]);
    const results = steps.map((step) => heard.get(step) ?? STALE);
    this.#feed.tell(steps.filter((_, index) => results[index]?.ok === true).map(({ key }) => key));
    return results;
  }

  async #write(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    const packed = steps.map(packStep);
    return this.#database.write(
      async (queries) => commitSteps(queries, this.#schema, this.#sessions, packed),
      {
        sign: (judged) => (judged.some(({ ok }) => ok) ? this.#notice() : SIGNATURE),
        // The other steps need not wait for what one of them waits for: each is tried alone then.
        waitsForLocks: steps.length === 1,
        unheard: (judged, xid) => this.#unheard.add(steps, judged, xid),
      },
    );
  }

  async inject(key: SessionKey, input: Input, dedupeKey: string): Promise<InjectReceipt> {
    parseIdentity(dedupeKey, 'dedupeKey');
    encodeJson(input.value, 'input.value');
    const value = JSON.stringify(input.value);
    const receipt = await this.#database.write<InjectReceipt>(
      async (queries) => {
        const row = await this.#sessions.locked(queries, key);
        return injectInput(queries, this.#schema, row, { place: input.place, value, dedupeKey });
      },
      { sign: ({ duplicate }) => (duplicate ? SIGNATURE : this.#notice()) },
    );
    if (!receipt.duplicate) this.#feed.tell([key]);
    return receipt;
  }

  async submit(submission: Submission): Promise<SubmitResult> {
    const { documents = [], sessions = [], inputs = [] } = submission;
    checkInputs(inputs);
    const checked = checkChanges(documents);
    const wanted = sessions.map(({ key, init }) => {
      parseIdentity(init.agent, 'agent');
      this.#mustHaveJoined(init.owner);
      return { key: parseSessionKey(key), init: { ...init, uid: this.#newUid() } };
    });
    const result = await this.#database.write<SubmitResult>(
      async (queries) => {
        // Documents before sessions, sessions by their ids: nobody waits in a circle.
        if (checked.length > 0) {
          const written = await writeDocumentRows(queries, this.#schema, checked);
          if (!written.ok) return written;
        }
        for (const { key, init } of wanted) await this.#sessions.insert(queries, key, init);
        const keys = inputs.map(({ key }) => key);
        const rows = new Map<string, FullRow>();
        for (const row of keys.length === 0 ? [] : await this.#sessions.lockedAll(queries, keys))
          rows.set(formatSessionKey(keyOf(row)), row);
        const receipts: InjectReceipt[] = [];
        for (const { key, input, dedupeKey } of inputs) {
          const name = formatSessionKey(key);
          const row = rows.get(name);
          if (row === undefined) throw await this.#sessions.notFound(queries, key);
          const value = JSON.stringify(input.value);
          const one = { place: input.place, value, dedupeKey };
          const receipt = await injectInput(queries, this.#schema, row, one);
          receipts.push(receipt);
          if (!receipt.duplicate) rows.set(name, { ...row, last_input: receipt.inputSeq });
        }
        return { ok: true, receipts };
      },
      {
        sign: (done) =>
          done.ok && changedBy(inputs, done.receipts).length > 0 ? this.#notice() : SIGNATURE,
      },
    );
    if (result.ok) this.#feed.tell(changedBy(inputs, result.receipts));
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
      input: { place: row.place, value: parsed(row.value) },
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

  async needingWork(query: {
    readonly owner: OwnerId;
    readonly appName?: string;
    readonly agents?: readonly string[];
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly SessionRow[]> {
    const exceptOwners = await this.#othersAlive(query.owner);
    const rows = await this.#sessions.needingWork(this.#database, { ...query, exceptOwners });
    return rows.map(sessionRowOf);
  }

  async nextDueAt(query: {
    readonly owner?: OwnerId;
    readonly agents?: readonly string[];
  }): Promise<number | undefined> {
    const { owner, agents } = query;
    const exceptOwners = owner === undefined ? [] : await this.#othersAlive(owner);
    return this.#sessions.nextDueAt(this.#database, {
      exceptOwners,
      ...(agents !== undefined && { agents }),
    });
  }

  async hydrated(key: SessionKey, ok: boolean): Promise<{ readonly quarantined: boolean }> {
    const { failures } = await this.#sessions.get(this.#database, key);
    // The usual case costs no write.
    if (ok && failures === 0) return { quarantined: false };
    return this.#database.write(async (queries) => {
      const row = await this.#sessions.locked(queries, key);
      const counted = ok ? 0 : row.failures + 1;
      await queries.rows(`UPDATE ${this.#schema}.sessions SET failures = $1 WHERE id = $2`, [
        counted,
        row.id,
      ]);
      return { quarantined: counted >= MAX_FAILURES };
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
      const key = stateKeyOf(user === '' ? 'app' : 'user', name);
      if (value !== null) entries.push([key, parsed(value)]);
      versions.push([key, version]);
    }
    return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
  }

  async delete(key: SessionKey): Promise<boolean> {
    const s = this.#schema;
    const deleted = await this.#database.write(
      async (queries) => {
        const rows = await this.#sessions.lockedFamily(queries, key);
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
        return rows.map(keyOf);
      },
      { sign: (done) => (done.length > 0 ? this.#notice() : SIGNATURE) },
    );
    if (deleted.length > 0) this.#feed.tell(deleted);
    return deleted.some(({ sessionId }) => sessionId === key.sessionId);
  }

  async document(kind: string, id: string): Promise<StoredDocument | undefined> {
    const [row] = await this.#database.rows<{ version: number; value: string }>(
      `SELECT version, value FROM ${this.#schema}.documents WHERE kind = $1 AND id = $2`,
      [kind, id],
    );
    return row && { kind, id, version: row.version, value: parsed(row.value) };
  }

  async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    const { kind, prefix, after, descending, limit } = fullQuery(query);
    const [compare, order] = descending ? ['<', 'DESC'] : ['>', 'ASC'];
    const rows = await this.#database.rows<{ id: string; version: number; value: string }>(
      `SELECT id, version, value FROM ${this.#schema}.documents
       WHERE kind = $1 AND ($2::text IS NULL OR id ${compare} $2) AND id >= $3 AND starts_with(id, $3)
       ORDER BY id ${order} LIMIT $4`,
      [kind, after ?? null, prefix, limit < 0 ? null : limit],
    );
    return rows.map(({ id, version, value }) => ({ kind, id, version, value: parsed(value) }));
  }

  async writeDocuments(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    const checked = checkChanges(changes);
    return this.#database.write(async (queries) =>
      writeDocumentRows(queries, this.#schema, checked),
    );
  }

  subscribe(listener: StoreListener): () => void {
    this.#mustBeOpen();
    return this.#feed.add(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#database.close();
    // One that cannot say so is dead to the others all the same, when its connection is gone.
    await Promise.allSettled(this.#presence.here.map(async (owner) => this.#presence.leave(owner)));
    await this.#presence.close();
    this.#feed.clear();
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosedError();
  }

  #mustHaveJoined(owner: OwnerId): void {
    this.#mustBeOpen();
    if (this.#presence.joinedHere(owner)) return;
    throw new InvalidInputError('owner', 'must join the store before it owns sessions.');
  }

  async #alive(queries: Queries): Promise<ReadonlySet<OwnerId>> {
    return this.#presence.alive(queries);
  }

  async #othersAlive(owner: OwnerId): Promise<readonly OwnerId[]> {
    return [...(await this.#alive(this.#database))].filter((other) => other !== owner);
  }

  /** Tells other processes that something changed, and says which transaction this is. */
  #notice(): Signature {
    return [
      'SELECT pg_notify($1, $2), pg_current_xact_id()::text AS xid',
      [this.#channel, this.#name],
    ];
  }

  /** Reads on, a page at a time, each from one state of the database, as long as the session is the same one. */
  async *#pages<T>(
    key: SessionKey,
    pageAfter: (last: T | undefined) => Promise<Page<T> | undefined>,
  ): AsyncGenerator<T, void, undefined> {
    let uid: string | undefined;
    let last: T | undefined;
    for (;;) {
      this.#mustBeOpen();
      const page = await pageAfter(last);
      if (page === undefined) throw await this.#sessions.notFound(this.#database, key);
      uid ??= page.uid;
      if (page.uid !== uid) throw new SessionNotFoundError(key, true);
      yield* page.items;
      if (page.steps < STEPS_IN_PAGE) return;
      last = page.items.at(-1) ?? last;
    }
  }
}

const STALE: CommitResult = { ok: false, refused: 'stale' };

function parsed(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}
