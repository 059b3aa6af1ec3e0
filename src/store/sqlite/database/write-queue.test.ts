import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  collect,
  commitOk,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
} from '../../contract/sample-steps.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import type { SqliteStoreOptions } from '../sqlite-store-options.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { SessionNotFoundError, StoreUnavailableError } from '../../store-errors.ts';

test('the writes of one turn of the event loop are one transaction', async () => {
  let transactions = 0;
  await withStore({ failpoints: { afterCommit: () => void transactions++ } }, async (store) => {
    const rows = await Promise.all(ids(50).map((id) => createSession(store, 'one', id)));
    transactions = 0;
    await Promise.all(rows.map(({ key }) => store.inject(key, { place: 'p', value: 1 }, 'k')));
    assert.equal(transactions, 1);
    // A flush includes the pending writes.
    const injected = store.inject(sessionKey('s0'), { place: 'p', value: 2 }, 'l');
    await store.commit(rows.map((row) => nextStep(row)));
    assert.equal(transactions, 2);
    assert.equal((await injected).inputSeq, 2);
  });
});

test('a rejected write of a transaction does not affect the others', async () => {
  await withStore({}, async (store) => {
    await createSession(store, 'one', 'a');
    const [missing, there] = await Promise.allSettled([
      store.inject(sessionKey('missing'), { place: 'p', value: 1 }, 'k'),
      store.inject(sessionKey('a'), { place: 'p', value: 1 }, 'k'),
    ]);
    assert.ok(missing?.status === 'rejected' && missing.reason instanceof SessionNotFoundError);
    assert.equal(there?.status, 'fulfilled');
  });
});

test('a write that fails is rolled back alone', async () => {
  await withStore({}, async (store) => {
    const [a, b] = [await createSession(store, 'one', 'a'), await createSession(store, 'one', 'b')];
    const results = await Promise.allSettled([
      store.inject(a.key, { place: 'p', value: 1 }, 'k'),
      store.commit([nextStep(b, { records: 7, events: 7 })]),
      store.inject(b.key, { place: 'p', value: 1 }, 'k'),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(
      [(await getExisting(store, b.key)).head, (await store.inbox(a.key, 0)).length],
      [0, 1],
    );
  });
});

test('a write waits for another process without blocking the event loop', async () => {
  await withStore({}, async (store, file) => {
    const row = await createSession(store, 'one', 'a');
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const order: string[] = [];
    const inject = (key: string): Promise<unknown> =>
      store.inject(row.key, { place: 'p', value: 1 }, key).then(() => order.push(key));
    const writes = [
      inject('first'),
      store.commit([nextStep(row)]).then(() => order.push('commit')),
      inject('second'),
    ];
    for (let turns = 0; turns < 10; turns++) await turn();
    writes.push(inject('third'));
    assert.deepEqual(order, []);
    // Reads still work.
    assert.equal((await getExisting(store, row.key)).head, 0);
    other.exec('COMMIT');
    other.close();
    await Promise.all(writes);
    assert.deepEqual(order, ['first', 'commit', 'second', 'third']);
  });
});

test('a database that stays locked by another process becomes unavailable', async () => {
  let waited = 0;
  const sleep = async (ms: number): Promise<void> => {
    waited += ms;
    await turn();
  };
  await withStore({ busyMs: 200, sleep }, async (store, file) => {
    const row = await createSession(store, 'one', 'a');
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const busy = (error: unknown): boolean =>
      error instanceof StoreUnavailableError &&
      error.reason === 'busy' &&
      error.message.includes(file);
    await assert.rejects(store.commit([nextStep(row)]), busy);
    assert.ok(waited >= 200 && waited < 250, String(waited));
    await assert.rejects(store.inject(row.key, { place: 'p', value: 1 }, 'k'), busy);
    other.close();
    await commitOk(store, [nextStep(row)]);
    assert.deepEqual(await store.inbox(row.key, 0), []);
  });
});

test('a failure before the commit rolls back, and a failure after it does not', async () => {
  let point: 'before' | 'after' | undefined;
  const failAt = (here: typeof point): void => {
    if (point === here) throw new Error(`stopped ${here}`);
  };
  const failpoints = { beforeCommit: () => failAt('before'), afterCommit: () => failAt('after') };
  await withStore({ failpoints }, async (store) => {
    const row = await createSession(store, 'one', 'a');
    const changes: unknown[] = [];
    store.subscribe((changed) => changes.push(changed));
    point = 'before';
    await assert.rejects(store.commit([nextStep(row)]), /stopped before/);
    assert.equal((await getExisting(store, row.key)).head, 0);
    point = 'after';
    await assert.rejects(store.commit([nextStep(row)]), /stopped after/);
    assert.equal((await getExisting(store, row.key)).head, 1);
    assert.equal((await collect(store.read(row.key))).length, 2);
    assert.deepEqual(changes, []);
  });
});

test('writers in two connections make progress together', async () => {
  await withStore({}, async (one, file) => {
    const two = await openSqliteStore(file);
    await two.join('two');
    const run = async (store: SqliteStore, owner: string): Promise<void> => {
      let row = await createSession(store, owner, owner);
      for (let count = 0; count < 100; count++) {
        await commitOk(store, [nextStep(row, { records: count * 2, events: count * 2 })]);
        row = { ...row, head: row.head + 1 };
      }
    };
    await Promise.all([run(one, 'one'), run(two, 'two')]);
    assert.equal((await collect(one.read(sessionKey('two')))).length, 200);
    assert.equal((await collect(two.read(sessionKey('one')))).length, 200);
    await two.close();
  });
});

async function withStore(
  options: SqliteStoreOptions,
  body: (store: SqliteStore, file: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  const file = join(folder, 'store.db');
  const store = await openSqliteStore(file, options);
  await store.join('one');
  try {
    await body(store, file);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `s${index}`);
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
