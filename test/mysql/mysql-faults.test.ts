import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { createCommitter } from '../../src/runtime/scheduling/committer.ts';
import {
  AT,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
} from '../../src/store/contract/sample-steps.ts';
import {
  captureOutcome,
  createUidSequence,
  operation,
  OWNERS,
  readEverything,
  runOperation,
} from '../../src/store/contract/store-operations.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import type { MysqlStoreOptions } from '../../src/store/mysql/mysql-store-options.ts';
import type { MysqlStore } from '../../src/store/mysql/mysql-store.ts';
import { findRunnable } from '../../src/store/mysql/runnable-rows.ts';
import { ownerLocks } from '../../src/store/mysql/owners-sql.ts';
import { tableNames } from '../../src/store/mysql/schema.ts';
import type { SqlStatement } from '../../src/store/mysql/statement.ts';
import { openMysqlStore } from '../../src/store/mysql/open-mysql-store.ts';
import { openStore } from '../../src/store/open/open-store.ts';
import {
  ForeignDatabaseError,
  StoreCorruptError,
  StoreFailedError,
  StoreUnavailableError,
  StoreVersionError,
} from '../../src/store/store-errors.ts';
import { connectMysql, NO_SERVER, startMysqlServer, type MysqlServer } from './mysql-server.ts';

interface FaultContext {
  readonly url: string;
  /** The prefix of the tables. */
  readonly schema: string;
  /** Another client of the database. */
  readonly other: Connection;
  readonly open: (options?: MysqlStoreOptions) => Promise<MysqlStore>;
}

describe('a MySQL store with faults', () => {
  let server: MysqlServer | undefined;
  let prefixes = 0;

  before(async () => {
    server = await startMysqlServer();
  });

  after(async () => {
    await server?.stop();
  });

  const withTables = (what: string, check: (context: FaultContext) => Promise<void>): void =>
    void it(what, async (t) => {
      if (server === undefined) return t.skip(NO_SERVER);
      const { url } = server;
      const schema = `faults_${prefixes++}`;
      const stores: MysqlStore[] = [];
      const other = await connectMysql(url);
      const open = async (options: MysqlStoreOptions = {}): Promise<MysqlStore> => {
        const store = await openMysqlStore(url, { schema, pollMs: 5, ...options });
        stores.push(store);
        return store;
      };
      try {
        await check({ url, schema, other, open });
      } finally {
        await other.query('ROLLBACK');
        await Promise.all(stores.map((store) => store.close()));
        await other.end();
      }
    });

  withTables('it behaves like a memory store', async ({ url }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const memory = new MemoryStore({ newUid: createUidSequence() });
        const schema = `same_${prefixes++}`;
        const store = await openMysqlStore(url, { schema, newUid: createUidSequence() });
        try {
          await Promise.all(OWNERS.flatMap((id) => [memory.join(id), store.join(id)]));
          for (const [index, one] of operations.entries()) {
            const expected = await captureOutcome(() => runOperation(memory, one, index));
            const actual = await captureOutcome(() => runOperation(store, one, index));
            assert.deepEqual(actual, expected, JSON.stringify(one));
            assert.deepEqual(await readEverything(store), await readEverything(memory));
          }
        } finally {
          await Promise.all([memory.close(), store.close()]);
        }
      }),
      { numRuns: 4 },
    );
  });

  withTables(
    'the sessions of a killed process can be claimed, those of a stopped process cannot',
    async ({ url, schema, open }) => {
      let clockMs = 0;
      const peer = await open({ now: () => clockMs });
      await peer.join('mine');
      const child = fork(new URL('mysql-owner.ts', import.meta.url), [url, schema], {
        stdio: 'inherit',
      });
      const [message] = await once(child, 'message');
      assert.equal(message, 'owns');
      const key = sessionKey('s');
      child.kill('SIGSTOP');
      assert.deepEqual(await peer.claim(key, 'mine'), { ok: false, owned: 'theirs' });
      child.kill('SIGKILL');
      await once(child, 'exit');
      // The kernel tells the server soon after. From then on the absence counts.
      let claimed = await peer.claim(key, 'mine');
      while (!claimed.ok) {
        clockMs += 1000;
        claimed = await peer.claim(key, 'mine');
      }
      assert.deepEqual([claimed.recovered, claimed.row.epoch], [true, 2]);
    },
  );

  withTables(
    'a commit names its sessions to other processes, and whose turn it is to read an input',
    async ({ open }) => {
      const [owner, sender, other] = [await open(), await open(), await open()];
      await owner.join('one');
      const { key } = await createSession(owner, 'one', 'x');
      const seen = [owner, other].map((store) => followNotices(store, 3));
      await sender.inject(key, { place: 'session.input', value: 1 }, 'k');
      await sender.inject(key, { place: 'session.input', value: 1 }, 'k');
      await sender.touch(key);
      await sender.evict(key);
      assert.deepEqual(await Promise.all(seen), [
        ['x input', 'x elsewhere', 'x input'],
        // Without an owner, every process may run it.
        ['x elsewhere', 'x elsewhere', 'x input'],
      ]);
    },
  );

  withTables(
    'a process that was away while commits were deleted reads everything again',
    async ({ open, other, schema }) => {
      const [one, two] = [await open(), await open()];
      const notices = followNotices(two, 1);
      // As after a deletion: the next number does not follow the last one that was read.
      await other.query(`UPDATE ${schema}_counter SET n = n + 10`);
      await one.join('one');
      await createSession(one, 'one', 'x');
      assert.deepEqual(await notices, ['any']);
    },
  );

  withTables(
    'a locked row delays its session, and no other session of the process',
    async ({ open, other, schema }) => {
      const store = await open({ busyMs: 600_000 });
      await store.join('one');
      const [a, b] = [
        await createSession(store, 'one', 'a'),
        await createSession(store, 'one', 'b'),
      ];
      const committer = createCommitter({ store });
      await other.query(`BEGIN; SELECT 1 FROM ${schema}_sessions FORCE INDEX (by_key)
         WHERE app = 'app' AND user_id = 'ada' AND name = 'a' FOR UPDATE`);
      let isDone = false;
      const blocked = committer.commit(nextStep(a)).then((result) => {
        isDone = true;
        return result;
      });
      assert.deepEqual(await committer.commit(nextStep(b)), { ok: true });
      assert.equal(isDone, false);
      await other.query('ROLLBACK');
      assert.deepEqual(await blocked, { ok: true });
      assert.equal((await getExisting(store, a.key)).head, 1);
      await committer.close();
    },
  );

  withTables('ten stores that write concurrently lose nothing', async ({ open }) => {
    const ROUNDS = 4;
    const stores = await Promise.all(
      Array.from({ length: 10 }, async () => open({ maxConnections: 2, busyMs: 600_000 })),
    );
    const [first] = stores;
    assert.ok(first !== undefined);
    await Promise.all(stores.map((store, index) => store.join(`o${index}`)));
    await Promise.all(stores.map((store, index) => createSession(store, `o${index}`, `s${index}`)));
    const { cursor } = await first.changes({ appName: 'app', limit: 1 });
    await Promise.all(
      stores.map(async (store, index) => {
        for (let round = 0; round < ROUNDS; round++) {
          const row = await getExisting(store, sessionKey(`s${index}`));
          const from = { records: round * 2, events: round * 2 };
          const writes = { place: 'state', increment: { 'app:n': 1, 'user:n': 1 } } as const;
          const [result] = await store.commit([
            nextStep(row, from, { shared: { reads: {}, writes } }),
          ]);
          assert.deepEqual(result, { ok: true });
          const target = sessionKey(`s${(index + round) % 10}`);
          await store.inject(target, { place: 'p', value: round }, `${index}/${round}`);
        }
      }),
    );
    const { entries } = await first.shared({ appName: 'app', userId: 'ada' });
    assert.deepEqual(entries, { 'app:n': 10 * ROUNDS, 'user:n': 10 * ROUNDS });
    const inboxes = await Promise.all(
      stores.map(async (_store, index) => first.inbox(sessionKey(`s${index}`), 0)),
    );
    assert.equal(inboxes.flat().length, 10 * ROUNDS);
    const { changes } = await first.changes({ appName: 'app', after: cursor, limit: 100 });
    assert.equal(new Set(changes.map(({ key }) => key.sessionId)).size, 10);
  });

  withTables(
    'tables of other programs, and of a newer version, are not changed',
    async ({ url, schema, other, open }) => {
      await other.query(`CREATE TABLE ${schema}_sessions (id INT)`);
      await assert.rejects(open(), ForeignDatabaseError);
      await other.query(`DROP TABLE ${schema}_sessions`);
      await open();
      await other.query(`UPDATE ${schema}_schema SET version = 99`);
      await assert.rejects(open(), StoreVersionError);
      await assert.rejects(openMysqlStore(url, { schema: 'No; DROP' }), { code: 'invalid_input' });
    },
  );

  withTables(
    'a migration that was killed in the middle is completed by the next process, and several may migrate at once',
    async ({ schema, other, open }) => {
      await open();
      await other.query(
        `DELETE FROM ${schema}_schema; DROP TABLE ${schema}_usage, ${schema}_locks`,
      );
      const [store] = await Promise.all([open(), open(), open()]);
      await store.join('one');
      const row = await createSession(store, 'one');
      assert.equal(row.createdAt, AT);
      assert.deepEqual(await store.usage({ appName: 'app', by: [] }), []);
    },
  );

  withTables(
    'the search for work reads an index, whatever waits',
    async ({ open, other, schema }) => {
      const store = await open();
      await store.join('one');
      await createSession(store, 'one', 'template');
      const columns = `app, user_id, uid, agent, owner, epoch, head, last_seq, last_record, last_input, inbox_up_to,
        status, in_flight, failures, net_hash, created_at, updated_at, is_root`;
      await other.query(
        `INSERT INTO ${schema}_sessions (name, next_due_at, ${columns})
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 900)
         SELECT CONCAT('waiting', n), ${AT} + n * 1000, ${columns}
         FROM ${schema}_sessions, numbers WHERE name = 'template'; ANALYZE TABLE ${schema}_sessions`,
      );
      const query = { owner: 'one', now: AT + 3000, limit: 9 };
      const page = await store.findRunnable(query);
      assert.deepEqual(
        [page.sessions.map(({ key }) => key.sessionId), page.nextDueAt],
        [['waiting1', 'waiting2', 'waiting3'], AT + 4000],
      );
      const sent: SqlStatement[] = [];
      const several = async (statements: readonly SqlStatement[]): Promise<readonly []> => {
        sent.push(...statements);
        return [];
      };
      const queries = { several, rows: async () => [] };
      const locks = ownerLocks({ name: 'petrichor' }, schema, 1);
      await findRunnable(queries, tableNames(schema), locks, { ...query, dead: [] });
      const plans = await Promise.all(
        sent.map(async ([text, values]) => {
          const [rows] = await other.query<RowDataPacket[]>(`EXPLAIN ${text}`, [...(values ?? [])]);
          return rows;
        }),
      );
      const ofSessions = plans
        .flat()
        .filter(({ table }) => /^(?:s|\w+_sessions)$/.test(String(table)));
      assert.ok(ofSessions.length >= 4);
      assert.deepEqual(
        ofSessions.filter(
          ({ key, rows }) => !/^by_(?:work|owner_in_flight)$/.test(String(key)) || rows > 20,
        ),
        [],
      );
    },
  );

  withTables('a URL with a driver of another toolkit opens the store', async ({ url, schema }) => {
    for (const scheme of ['mysql+pymysql:', 'mariadb:']) {
      const store = await openStore(url.replace('mysql:', scheme), { schema });
      await store.join(scheme);
      await store.close();
    }
  });

  it('a missing server, and a URL with an unknown parameter, are reported without the password', async () => {
    for (const [url, code] of [
      ['mysql://me:secret@127.0.0.1:1/db', 'store_unavailable'],
      ['mysql://me:secret@127.0.0.1:1/db?pool=secret', 'unsupported_store_url'],
      ['mysql://me:secret@127.0.0.1:1', 'unsupported_store_url'],
    ] as const)
      await assert.rejects(openStore(url), (error: Error & { readonly code?: string }) => {
        assert.equal(error.code, code);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
  });

  withTables(
    'an error of the server says whether to try again, and quotes no value',
    async ({ open, other, schema }) => {
      const store = await open({ busyMs: 1 });
      // After a lost connection the call is retried, and the server may still hold the locks of that connection.
      const patient = await open();
      await store.join('one');
      const row = await createSession(store, 'one');
      for (const [errno, kind, reason] of [
        [1213, StoreUnavailableError, 'busy'],
        [1205, StoreUnavailableError, 'busy'],
        [1040, StoreUnavailableError, 'busy'],
        [1021, StoreUnavailableError, 'full'],
        [1114, StoreUnavailableError, 'full'],
        [1317, StoreUnavailableError, 'canceled'],
        [1969, StoreUnavailableError, 'canceled'],
        [1290, StoreUnavailableError, 'readonly'],
        [1142, StoreUnavailableError, 'readonly'],
        [1053, StoreUnavailableError, 'io'],
        [1146, StoreCorruptError, undefined],
        [1054, StoreCorruptError, undefined],
        [1034, StoreCorruptError, undefined],
        [1406, StoreFailedError, undefined],
        [1064, StoreFailedError, undefined],
      ] as const) {
        await other.query(
          `CREATE TRIGGER ${schema}_fail BEFORE INSERT ON ${schema}_steps FOR EACH ROW
           SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'a secret value'`,
        );
        const writer = reason === 'io' ? patient : store;
        await assert.rejects(writer.commit([nextStep(row)]), (error) => {
          assert.ok(error instanceof kind, `${errno}: ${String(error)}`);
          assert.equal('reason' in error ? error.reason : undefined, reason);
          assert.equal('retryable' in error && error.retryable, kind === StoreUnavailableError);
          assert.doesNotMatch(error.message, /secret/);
          assert.match(error.message, /\. (Try|Free|Check|Give|Restore|Nothing was)/);
          return true;
        });
        await other.query(`DROP TRIGGER ${schema}_fail`);
      }
      assert.deepEqual(await store.commit([nextStep(row)]), [{ ok: true }]);
    },
  );
});

/** Resolves with the sessions and origins of so many notices. */
async function followNotices(store: MysqlStore, count: number): Promise<readonly string[]> {
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = store.subscribe((changed, origin) => {
    if (changed === 'any') seen.push('any');
    else seen.push(...changed.map(({ sessionId }) => `${sessionId} ${origin}`));
    if (seen.length >= count) resolve();
  });
  // A subscription does not keep the process alive, so the test does.
  const alive = setInterval(() => undefined, 1000);
  try {
    await promise;
    return seen;
  } finally {
    clearInterval(alive);
    unsubscribe();
  }
}
