import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import {
  collect,
  commitOk,
  createSession,
  fired,
  getExisting,
  nextStep,
  sessionKey,
} from '../../src/store/contract/sample-steps.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { startPostgresServer } from './postgres-server.ts';

test('a process works on while a later release adds a column to every table', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  const schema = `columns_${process.pid}`;
  // With one connection, the statements of the second round are those that the first one prepared.
  const store = await openPostgresStore(server.url, { schema, maxConnections: 1 });
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  try {
    await store.join('one');
    const before = await useEverything(store, 'before');
    const { rows } = await admin.query<{ tablename: string }>(
      'SELECT tablename FROM pg_tables WHERE schemaname = $1',
      [schema],
    );
    assert.ok(rows.length > 10);
    for (const { tablename } of rows)
      await admin.query(`ALTER TABLE ${schema}.${tablename} ADD COLUMN later text DEFAULT 'new'`);
    assert.equal(await useEverything(store, 'after'), before);
    await assert.rejects(store.read(sessionKey('before')).next(), { code: 'session_not_found' });
  } finally {
    await store.close();
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await admin.end();
    await server.stop();
  }
});

/** Calls every method that reads or writes rows, and returns what they found. */
async function useEverything(store: PostgresStore, id: string): Promise<string> {
  const row = await createSession(store, 'one', id);
  const { key } = row;
  await store.inject(key, { place: 'user.in', value: 'Hello.' }, `${id}-input`);
  const found: unknown[] = [
    await store.findInput(key, `${id}-input`),
    (await store.inbox(key, 0)).length,
    (await store.findRunnable({ owner: 'one', now: 0, limit: 9 })).sessions.length,
  ];
  const at = row.updatedAt + 1;
  await commitOk(store, [
    nextStep(row, undefined, {
      records: [fired(1, at, true), fired(2, at)],
      snapshot: { long: 'x'.repeat(20_000) },
      inboxUpTo: 1,
      usage: [
        {
          day: '2026-01-01',
          model: 'm',
          calls: 1,
          tokens: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        },
      ],
    }),
  ]);
  await store.touch(key);
  await store.recordHydration(key, false);
  await store.recordHydration(key, true);
  await store.writeDocuments([{ kind: 'k', id, version: 0, value: 1 }]);
  const { cursor } = await store.changes({ appName: 'app', limit: 9 });
  found.push(
    (await collect(store.read(key))).length,
    (await collect(store.steps(key, 0))).length,
    (await collect(store.listSteps(key, 1))).length,
    (await store.snapshot(key))?.step,
    (await store.list({ appName: 'app', order: 'created', limit: 9 })).length,
    (await store.pendingCalls({ appName: 'app', limit: 9 })).length,
    (await store.changes({ appName: 'app', after: cursor, limit: 9 })).isLast,
    (await store.usage({ appName: 'app', by: [] })).length,
    Object.keys(await store.shared({ appName: 'app', userId: 'ada' })).length,
    (await store.document('k', id))?.version,
    (await store.documents({ kind: 'k', limit: 1 })).length,
    (await store.evict(key)).evicted,
    (await store.claim(key, 'one')).ok,
    (await getExisting(store, key)).epoch,
    await store.delete(key),
  );
  return JSON.stringify(found);
}
