import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import {
  AT,
  commitOk,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
  summary,
} from '../../src/store/contract/sample-steps.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { listMigrations } from '../../src/store/postgres/schema.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

describe('the search for sessions with work on PostgreSQL', () => {
  let server: PostgresServer | undefined;
  let client: Client;

  before(async () => {
    server = await startPostgresServer();
    if (server === undefined) return;
    client = new Client({ connectionString: server.url });
    await client.connect();
  });

  after(async () => {
    if (server === undefined) return;
    await client.end();
    await server.stop();
  });

  it('is one statement that reads no session without work, also when all wait for a timer', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const statements: string[] = [];
    const schema = `scan_${process.pid}`;
    await using store = closing(
      await openPostgresStore(server.url, { schema, onStatement: (text) => statements.push(text) }),
    );
    await store.join('one');
    await createSession(store, 'one', 'template');
    const { rows } = await client.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns
       WHERE table_schema = $1 AND table_name = 'sessions' AND column_name NOT IN ('id', 'name', 'next_due_at')`,
      [schema],
    );
    const columns = rows.map((row) => row.column_name).join(', ');
    await client.query(
      `INSERT INTO ${schema}.sessions (name, next_due_at, ${columns})
       SELECT 'waiting' || n, ${AT} + n * 1000, ${columns}
       FROM ${schema}.sessions, generate_series(1, 5000) AS n WHERE name = 'template'`,
    );
    await client.query(`ANALYZE ${schema}.sessions`);
    statements.length = 0;
    const page = await store.findRunnable({ owner: 'one', now: AT + 3000, limit: 9 });
    assert.deepEqual(
      [page.sessions.map(({ key }) => key.sessionId), page.nextDueAt],
      [['waiting1', 'waiting2', 'waiting3'], AT + 4000],
    );
    assert.equal(statements.length, 1);
    const types = 'text[], text, bigint, text, bigint, text[], integer[], bigint, text, text, text';
    await client.query(`PREPARE scan (${types}) AS ${statements[0]}`);
    const explained = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, COSTS OFF) EXECUTE scan (null, 'one', ${AT + 3000}, null, 9, '{}', '{}', -1, '', '', '')`,
    );
    const plan = explained.rows.map((row) => row['QUERY PLAN']);
    assert.deepEqual(
      plan
        .filter((line) => /Scan .*on sessions|Rows Removed by Filter: \d{3,}/.test(line))
        .filter((line) => !/using sessions_(in_flight|unread|timed) /.test(line)),
      [],
    );
  });

  it('finds work in a schema of the earlier version, whose indexes are built while others write', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const schema = `upgrade_${process.pid}`;
    await client.query(`CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.petrichor_schema (version integer NOT NULL);
      INSERT INTO ${schema}.petrichor_schema VALUES (3);`);
    for (const script of listMigrations(schema).slice(0, 3)) await client.query(script);
    // What a migration leaves behind that was killed while it built an index.
    await client.query(`CREATE INDEX sessions_unread ON ${schema}.sessions (updated_at);
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${schema}.sessions_unread'::regclass`);
    const writer = new Client({ connectionString: server.url });
    await writer.connect();
    const { url } = server;
    const stores = await Promise.all([1, 2].map(async () => openPostgresStore(url, { schema })));
    try {
      const [store] = stores;
      assert.ok(store);
      await store.join('one');
      const row = await createSession(store, 'one', 'x');
      await commitOk(store, [nextStep(row, undefined, { summary: summary({ inFlight: 0 }) })]);
      // As the earlier release writes it: it knows none of the new indexes.
      await writer.query(`UPDATE ${schema}.sessions SET last_input = 1 WHERE name = 'x'`);
      const { sessions } = await store.findRunnable({ owner: 'one', now: AT, limit: 9 });
      assert.deepEqual(sessions, [await getExisting(store, sessionKey('x'))]);
      const { rows } = await client.query<{ indisvalid: boolean }>(
        `SELECT indisvalid FROM pg_index WHERE indexrelid::regclass::text
         IN ('${schema}.sessions_in_flight', '${schema}.sessions_unread', '${schema}.sessions_timed')`,
      );
      assert.deepEqual(
        rows.map(({ indisvalid }) => indisvalid),
        [true, true, true],
      );
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await writer.end();
    }
  });
});

/** Closes the store at the end of the block. */
function closing<T extends { close(): Promise<void> }>(store: T): AsyncDisposable & T {
  return Object.assign(store, { [Symbol.asyncDispose]: async () => store.close() });
}
