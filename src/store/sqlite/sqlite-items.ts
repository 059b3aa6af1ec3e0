import { setImmediate } from 'node:timers/promises';
import { omitUndefined } from '../../core/internal.ts';
import type { SessionKey } from '../../core/index.ts';
import { toImportedInit, writeItems, type ItemWriter } from '../copies/write-items.ts';
import { toUsageItem } from '../copies/usage-item.ts';
import type { Blobs } from '../encoding/blob-references.ts';
import type { Failpoints } from '../failpoints.ts';
import { USAGE_DIMENSIONS } from '../rules/usage-rules.ts';
import type { ExportSelection, ItemImportOptions, StoreItem } from '../store-item.ts';
import { commitStep } from './commit-step.ts';
import { Connection } from './database/connection.ts';
import { openDatabase } from './database/open-database.ts';
import { pack } from './database/packed-json.ts';
import { retryBusy, type BusyPolicy } from './database/retry-busy.ts';
import { MIGRATIONS } from './database/schema.ts';
import { ItemTable } from './tables/item-table.ts';
import { packStep } from './tables/journal-table.ts';
import { createTables, type SqliteTables } from './tables/sqlite-tables.ts';

const ROWS_PER_PAGE = 200;

/** The items of a SQLite file, over a connection of their own, whose transaction stays open across awaits. */
export class SqliteItems {
  readonly #connection: Connection;
  readonly #policy: BusyPolicy;
  readonly #tables: SqliteTables;
  readonly #items: ItemTable;

  static async open(file: string, policy: BusyPolicy): Promise<SqliteItems> {
    const opened = await openDatabase(file, MIGRATIONS, policy);
    return new SqliteItems(new Connection(opened.file, opened.database), policy);
  }

  private constructor(connection: Connection, policy: BusyPolicy) {
    this.#connection = connection;
    this.#policy = policy;
    this.#tables = createTables(connection);
    this.#items = new ItemTable(connection, this.#tables.blobs);
  }

  /** @throws SessionNotFoundError, StoreCorruptError, StoreUnavailableError */
  async *export(selection: ExportSelection): AsyncGenerator<StoreItem, void, undefined> {
    this.#connection.begin('read');
    try {
      for (const page of this.#pages(selection)) {
        yield* page;
        await setImmediate();
      }
    } catch (error) {
      throw this.#connection.toStoreError(error);
    } finally {
      this.#connection.end('rollback');
    }
  }

  async import(
    items: AsyncIterable<StoreItem>,
    options: ItemImportOptions,
    { beforeCommit, afterCommit }: Failpoints,
  ): Promise<readonly SessionKey[]> {
    try {
      await retryBusy(this.#policy, () => this.#connection.begin('write'));
    } catch (error) {
      throw this.#connection.toStoreError(error);
    }
    let outcome: 'commit' | 'rollback' = 'rollback';
    let keys: readonly SessionKey[];
    try {
      keys = await writeItems(items, this.#createWriter(), options);
      beforeCommit?.();
      outcome = 'commit';
    } catch (error) {
      throw this.#connection.toStoreError(error);
    } finally {
      this.#connection.end(outcome);
    }
    afterCommit?.();
    return keys;
  }

  close(): void {
    this.#connection.close();
  }

  *#pages({ session }: ExportSelection): Generator<Iterable<StoreItem>, void, undefined> {
    const { sessions, documents, usage } = this.#tables;
    if (session !== undefined) {
      for (const key of [session, ...sessions.children(session)]) yield* this.#sessionPages(key);
      return;
    }
    for (let after = 0; ;) {
      const page = this.#items.page(after, ROWS_PER_PAGE);
      for (const { key } of page) yield* this.#sessionPages(key);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
    for (const kind of this.#items.documentKinds())
      for (let after: string | undefined; ;) {
        const query = { kind, limit: ROWS_PER_PAGE, ...omitUndefined({ after }) };
        const page = documents.list(query);
        yield page.map((document) => ({ type: 'document', ...document }));
        after = page.at(-1)?.id;
        if (after === undefined) break;
      }
    yield this.#items.shared();
    yield this.#items.tombstones();
    for (const appName of this.#items.usageApps())
      yield usage
        .read({ appName, by: USAGE_DIMENSIONS })
        .map((total) => toUsageItem(appName, total));
  }

  *#sessionPages(key: SessionKey): Generator<Iterable<StoreItem>, void, undefined> {
    const { sessions, journal } = this.#tables;
    const row = sessions.get(key);
    const head = sessions.getHead(key);
    const { uid, agent, netHash, lastSeq, activity, inFlight, nextDueAt, pending } = row;
    const status = this.#items.status(head.id);
    yield [
      {
        type: 'session',
        key,
        uid,
        agent,
        netHash,
        head: row.head,
        lastSeq,
        activity,
        status,
        inFlight,
        nextDueAt,
        pending,
        failures: row.failures,
        createdAt: row.createdAt,
        inboxUpTo: head.inboxUpTo,
      },
    ];
    yield* this.#inputPages(key, head.id, head.inboxUpTo);
    const snapshot = journal.snapshot(key, head.id);
    if (snapshot !== undefined) yield [{ type: 'snapshot', ...snapshot }];
    for (let after = 0; after < head.head;) {
      const steps = journal.steps(key, head, after);
      yield steps.map((step) => ({ type: 'step', ...step }));
      after = steps.at(-1)?.step ?? head.head;
    }
  }

  *#inputPages(
    key: SessionKey,
    session: number,
    inboxUpTo: number,
  ): Generator<Iterable<StoreItem>, void, undefined> {
    const unread = new Map(
      this.#tables.inbox
        .unread(key, session, inboxUpTo)
        .map(({ inputSeq, input }) => [inputSeq, input] as const),
    );
    for (let after = 0; ;) {
      const page = this.#items.inputKeys(session, after, ROWS_PER_PAGE);
      yield page.map((one) => {
        const input = unread.get(one.inputSeq);
        return { type: 'input', ...one, ...omitUndefined({ input }) };
      });
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.inputSeq;
    }
  }

  #createWriter(): ItemWriter {
    const { sessions, inbox, usage } = this.#tables;
    return {
      location: this.#connection.file,
      isEmpty: async () =>
        this.#items.page(0, 1).length === 0 &&
        this.#items.documentKinds().length === 0 &&
        this.#items.shared().length === 0 &&
        this.#items.tombstones().length === 0 &&
        this.#items.usageApps().length === 0,
      createSession: async (item) => {
        if (sessions.head(item.key) !== undefined) return false;
        sessions.insert(item.key, toImportedInit(item));
        return true;
      },
      isUidOfOther: async (item) => this.#items.isUidOfOther(item),
      addInput: async ({ key }, { dedupeKey, input }) => {
        const blobs: Blobs = new Map();
        const value = pack(input?.value ?? null, blobs);
        inbox.append(sessions.getHead(key), dedupeKey, input?.place ?? '', value, blobs);
      },
      commit: async (steps) => steps.map((step) => commitStep(this.#tables, step, packStep(step))),
      releaseSession: async ({ key, failures }) =>
        sessions.release(sessions.getHead(key).id, failures),
      addDocument: async (document) => this.#items.insertDocument(document),
      addShared: async (shared) => this.#items.insertShared(shared),
      addTombstone: async (tombstone) => this.#items.insertTombstone(tombstone),
      addUsage: async ({ type: _type, appName, userId, agent, ...one }) =>
        usage.add({ appName, userId, sessionId: '' }, agent, [one]),
    };
  }
}
