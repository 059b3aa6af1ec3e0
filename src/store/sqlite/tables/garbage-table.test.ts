import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  commitOk,
  commitSampleSteps,
  createSession,
  getExisting,
  nextStep,
} from '../../contract/sample-steps.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import type { SqliteStore } from '../sqlite-store.ts';

const TABLES = ['steps', 'inbox', 'input_keys', 'snapshots', 'blobs', 'blob_uses', 'garbage'];

test('all data of a deleted session is removed, however large the session was', async () => {
  await withFile(async (file) => {
    const store = await openSqliteStore(file);
    await store.join('one');
    await fillSession(store);
    assert.deepEqual(counts(file), [601, 1, 1501, 1, 1, 1, 0]);
    const { key } = (await store.list({}))[0] ?? assert.fail();
    assert.equal(await store.delete(key), true);
    assert.deepEqual(counts(file), [0, 0, 0, 0, 0, 0, 0]);
    await store.close();
  });
});

test('data left by a process that died during a delete is removed at the next join', async () => {
  await withFile(async (file) => {
    let transactions = Infinity;
    const beforeCommit = (): void => {
      if (--transactions < 0) throw new Error('died');
    };
    const store = await openSqliteStore(file, { failpoints: { beforeCommit } });
    await store.join('one');
    await fillSession(store);
    const { key } = (await store.list({}))[0] ?? assert.fail();
    transactions = 1;
    assert.equal(await store.delete(key), true);
    assert.equal(await store.find(key), undefined);
    const [steps = 0, , , , , , garbage] = counts(file);
    assert.ok(steps > 0 && steps < 601);
    assert.equal(garbage, 1);

    const next = await openSqliteStore(file);
    await next.join('two');
    assert.deepEqual(counts(file), [0, 0, 0, 0, 0, 0, 0]);
    transactions = Infinity;
    await Promise.all([store.close(), next.close()]);
  });
});

/** A session of 601 steps, 1,501 inputs of which one is unread, a snapshot and a long text. */
async function fillSession(store: SqliteStore): Promise<void> {
  const { row, cursor } = await commitSampleSteps(store, await createSession(store, 'one'), 600);
  await Promise.all(
    Array.from({ length: 1501 }, (_, index) =>
      store.inject(row.key, { place: 'p', value: index }, `k${index}`),
    ),
  );
  const snapshot = 'long '.repeat(3000);
  await commitOk(store, [
    nextStep(await getExisting(store, row.key), cursor, { snapshot, inboxUpTo: 1500 }),
  ]);
}

function counts(file: string): readonly number[] {
  const database = new DatabaseSync(file);
  const numbers = TABLES.map((table) =>
    Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']),
  );
  database.close();
  return numbers;
}

async function withFile(body: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  try {
    await body(join(folder, 'store.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
