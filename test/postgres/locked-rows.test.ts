import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { createCommitter } from '../../src/runtime/scheduling/committer.ts';
import { createSession, getExisting, nextStep } from '../../src/store/contract/sample-steps.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStoreOptions } from '../../src/store/postgres/postgres-store-options.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import {
  StoreCorruptError,
  StoreFailedError,
  StoreUnavailableError,
} from '../../src/store/store-errors.ts';
import type { SessionRow } from '../../src/store/store.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

interface LockedRowsContext {
  readonly store: PostgresStore;
  /** Another client of the database. */
  readonly other: Client;
  readonly schema: string;
  readonly rows: readonly [SessionRow, SessionRow, SessionRow];
}

describe('PostgreSQL rows that another client has locked', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  const testWithRows = (
    what: string,
    check: (scene: LockedRowsContext) => Promise<void>,
    options: PostgresStoreOptions = {},
  ): void =>
    void it(what, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const schema = `locked_${process.pid}_${schemas++}`;
      const other = new Client({ connectionString: server.url });
      other.on('error', () => undefined);
      await other.connect();
      const store = await openPostgresStore(server.url, { schema, ...options });
      try {
        await store.join('one');
        const rows = [
          await createSession(store, 'one', 'a'),
          await createSession(store, 'one', 'b'),
          await createSession(store, 'one', 'c'),
        ] as const;
        await check({ store, other, schema, rows });
      } finally {
        await other.query('ROLLBACK').catch(() => undefined);
        await store.close();
        await other.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => undefined);
        await other.end();
      }
    });

  testWithRows(
    'a closing store keeps the process alive until its pending calls have ended',
    async ({ store, other, schema, rows: [a] }) => {
      await other.query(`BEGIN; SELECT 1 FROM ${schema}.sessions WHERE name = 'a' FOR UPDATE`);
      const touched = store.touch(a.key);
      const countTimers = (): number =>
        process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const before = countTimers();
      const closed = store.close();
      assert.equal(countTimers(), before + 1);
      await other.query('ROLLBACK');
      await touched;
      await closed;
    },
  );

  testWithRows(
    'a process that waits for a locked row goes on',
    async ({ other, schema, rows: [a] }) => {
      await other.query(`BEGIN; SELECT 1 FROM ${schema}.sessions WHERE name = 'a' FOR UPDATE`);
      const program = join(import.meta.dirname, 'locked-call.ts');
      const args = [program, server?.url ?? '', schema, a.key.sessionId];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = once(child, 'close');
      let statements = 0;
      for await (const chunk of child.stdout) {
        statements += String(chunk).split('\n').length - 1;
        // It has tried again.
        if (statements >= 3) await other.query('ROLLBACK');
      }
      assert.deepEqual(await closed, [0, null]);
    },
  );

  testWithRows(
    'a locked row delays its session, and no other session of the process',
    async ({ store, other, schema, rows: [a, b, c] }) => {
      const committer = createCommitter({ store });
      await other.query(`BEGIN; SELECT 1 FROM ${schema}.sessions WHERE name = 'a' FOR UPDATE`);
      let isDone = false;
      const blockedCommit = committer.commit(nextStep(a)).then((result) => {
        isDone = true;
        return result;
      });
      assert.deepEqual(await committer.commit(nextStep(b)), { ok: true });
      // Also later, while the stuck step is being retried.
      const laterStep = nextStep({ ...b, head: 1 }, { records: 2, events: 2 });
      const commits = [committer.commit(nextStep(c)), committer.commit(laterStep)];
      assert.deepEqual(await Promise.all(commits), [{ ok: true }, { ok: true }]);
      assert.equal(isDone, false);
      await other.query('ROLLBACK');
      assert.deepEqual(await blockedCommit, { ok: true });
      assert.equal((await getExisting(store, a.key)).head, 1);
      await committer.close();
    },
  );

  testWithRows(
    'many writers of a locked session leave connections for the others',
    async ({ store, other, schema, rows: [a, b] }) => {
      await other.query(`BEGIN; SELECT 1 FROM ${schema}.sessions WHERE name = 'a' FOR UPDATE`);
      const waiting = Array.from({ length: 20 }, async (_, n) =>
        store.inject(a.key, { place: 'p', value: n }, `k${n}`),
      );
      const closing = store.delete(a.key);
      assert.deepEqual(await store.commit([nextStep(b)]), [{ ok: true }]);
      assert.equal((await store.list({})).length, 3);
      await other.query('ROLLBACK');
      assert.equal(await closing, true);
      const injected = await Promise.allSettled(waiting);
      for (const result of injected)
        if (result.status === 'rejected') assert.equal(result.reason.code, 'session_not_found');
    },
    { maxConnections: 2, busyMs: 600_000 },
  );

  testWithRows(
    'a call that waits too long fails as busy',
    async ({ store, other, schema, rows: [a] }) => {
      await other.query(`BEGIN; SELECT 1 FROM ${schema}.sessions WHERE name = 'a' FOR UPDATE`);
      await assert.rejects(store.commit([nextStep(a)]), busy);
      await assert.rejects(store.inject(a.key, { place: 'p', value: 1 }, 'k'), busy);
      await other.query('ROLLBACK');
      assert.deepEqual(await store.commit([nextStep(a)]), [{ ok: true }]);
    },
    { busyMs: 50 },
  );

  testWithRows(
    'locked shared state delays its writers, and other steps only briefly',
    async ({ store, other, schema, rows: [a, b, c] }) => {
      const shared = { reads: {}, writes: { place: 'state', increment: { 'app:n': 1 } } };
      await store.commit([nextStep(c, undefined, { shared })]);
      const committer = createCommitter({ store });
      await other.query(`BEGIN; SELECT 1 FROM ${schema}.shared_state FOR UPDATE`);
      const blockedCommit = committer.commit(nextStep(a, undefined, { shared }));
      assert.deepEqual(await committer.commit(nextStep(b)), { ok: true });
      await other.query('ROLLBACK');
      assert.deepEqual(await blockedCommit, { ok: true });
      assert.deepEqual((await store.shared(a.key)).entries, { 'app:n': 2 });
      await committer.close();
    },
  );

  testWithRows(
    'an input finds a session that is replaced while its row is being locked',
    async ({ store, other, schema, rows: [a] }) => {
      // Readers of the table wait for a lock between their snapshot and their rows.
      await other.query(`
        ALTER TABLE ${schema}.sessions RENAME TO real_sessions;
        CREATE FUNCTION ${schema}.wait() RETURNS boolean LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN true; END $$;
        CREATE VIEW ${schema}.sessions AS SELECT * FROM ${schema}.real_sessions WHERE ${schema}.wait();
        CREATE TABLE ${schema}.replacement AS SELECT * FROM ${schema}.real_sessions WHERE name = 'a';
        UPDATE ${schema}.replacement SET id = id + 1000, uid = 'new';
        SELECT pg_advisory_lock(42)`);
      const injected = store.inject(a.key, { place: 'p', value: 1 }, 'k');
      const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted`;
      while ((await other.query(waiting)).rowCount === 0);
      await other.query(`
        BEGIN;
        DELETE FROM ${schema}.real_sessions WHERE name = 'a';
        INSERT INTO ${schema}.real_sessions OVERRIDING SYSTEM VALUE SELECT * FROM ${schema}.replacement;
        COMMIT;
        SELECT pg_advisory_unlock(42)`);
      assert.deepEqual(await injected, { inputSeq: 1, duplicate: false });
      assert.equal((await getExisting(store, a.key)).uid, 'new');
      assert.equal(await store.delete(a.key), true);
    },
  );

  let unlock: () => Promise<unknown> = async () => undefined;
  testWithRows(
    'reads of a locked table that share a connection all wait for it',
    async ({ store, other, schema }) => {
      await other.query(`BEGIN; LOCK TABLE ${schema}.documents`);
      unlock = async () => other.query('ROLLBACK');
      // None is prepared on the connection yet, and the server cannot prepare the first one.
      const reads = ['a', 'b', 'c'].map(async (id) => store.document('kind', id));
      assert.deepEqual(await Promise.all(reads), [undefined, undefined, undefined]);
    },
    { maxConnections: 1, sleep: async () => void (await unlock()) },
  );

  testWithRows(
    'a canceled statement is reported as canceled',
    async ({ store, other, schema, rows }) => {
      const [a] = rows;
      // The server cancels statements that take longer than its limit.
      await other.query(`
      CREATE FUNCTION ${schema}.slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN SET LOCAL statement_timeout = 1; PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE INSERT ON ${schema}.steps FOR EACH ROW EXECUTE FUNCTION ${schema}.slow()`);
      await assert.rejects(store.commit([nextStep(a)]), (error) => {
        assert.ok(error instanceof StoreUnavailableError, String(error));
        assert.equal(error.reason, 'canceled');
        assert.match(error.message, /statement_timeout/);
        return true;
      });
      await other.query(`DROP TRIGGER slow ON ${schema}.steps`);
      assert.deepEqual(await store.commit([nextStep(a)]), [{ ok: true }]);
    },
  );

  for (const [sqlState, kind, reason] of [
    ['40001', StoreUnavailableError, 'busy'],
    ['40P01', StoreUnavailableError, 'busy'],
    ['53100', StoreUnavailableError, 'full'],
    ['53200', StoreUnavailableError, 'busy'],
    ['53300', StoreUnavailableError, 'busy'],
    ['53400', StoreUnavailableError, 'busy'],
    ['55P03', StoreUnavailableError, 'busy'],
    ['55006', StoreUnavailableError, 'busy'],
    ['57014', StoreUnavailableError, 'canceled'],
    ['25006', StoreUnavailableError, 'readonly'],
    ['42501', StoreUnavailableError, 'readonly'],
    ['57P01', StoreUnavailableError, 'io'],
    ['57P03', StoreUnavailableError, 'io'],
    ['58030', StoreUnavailableError, 'io'],
    ['08006', StoreUnavailableError, 'io'],
    ['XX001', StoreCorruptError, undefined],
    ['42P01', StoreCorruptError, undefined],
    ['22021', StoreFailedError, undefined],
    ['23505', StoreFailedError, undefined],
    ['54000', StoreFailedError, undefined],
    ['XX000', StoreFailedError, undefined],
  ] as const)
    testWithRows(
      `an error of SQLSTATE ${sqlState} is ${kind.name}${reason === undefined ? '' : `, ${reason}`}, and says whether to try again`,
      async ({ store, other, schema, rows: [a] }) => {
        await other.query(`
          CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'a secret value' USING ERRCODE = '${sqlState}'; END $$;
          CREATE TRIGGER fail BEFORE INSERT ON ${schema}.steps FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`);
        await assert.rejects(store.commit([nextStep(a)]), (error) => {
          assert.ok(error instanceof kind, String(error));
          assert.equal('reason' in error ? error.reason : undefined, reason);
          assert.equal('retryable' in error && error.retryable, kind === StoreUnavailableError);
          assert.doesNotMatch(error.message, /secret/);
          assert.match(error.message, /\. (Try|Free|Check|Give|Restore|Nothing was)/);
          return true;
        });
        await other.query(`DROP TRIGGER fail ON ${schema}.steps`);
        assert.deepEqual(await store.commit([nextStep(a)]), [{ ok: true }]);
      },
      // After a lost connection the call is retried, and the server may still hold the locks of that connection.
      reason === 'io' ? {} : { busyMs: 1 },
    );
});

function busy(error: unknown): boolean {
  assert.ok(error instanceof StoreUnavailableError, String(error));
  assert.equal(error.reason, 'busy');
  return true;
}
