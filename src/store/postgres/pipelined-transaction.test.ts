import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { GroupedReads } from './grouped-reads.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';

// Of a client, only `query` is used here.
const client = { query: async () => ({ rows: [] }) } as unknown as pg.PoolClient;

test('a transaction reports the first statement that failed, whichever error arrives first', async () => {
  const first = Promise.withResolvers<readonly unknown[]>();
  const results = new Map([
    ['first', first.promise],
    ['second', Promise.reject(new Error('current transaction is aborted'))],
  ]);
  const transaction = new PipelinedTransaction(
    client,
    async (text) => (await results.get(text)) ?? [text],
  );
  transaction.begin('BEGIN');
  transaction.add('first');
  const rows = transaction.rows('second');
  first.reject(new Error('the first one failed'));
  await assert.rejects(rows, /the first one failed/);
  assert.deepEqual(await transaction.rows('third'), ['third'], 'an error is reported once');
});

test('reads of one turn of the event loop share a connection, and each has its own result', async () => {
  let connections = 0;
  const reads = new GroupedReads(async (action) => {
    connections++;
    await action(client);
  });
  const [one, two, three] = await Promise.allSettled([
    reads.read('', async () => 1),
    reads.read('', async () => Promise.reject(new Error('no such table'))),
    reads.read('', async () => 3),
  ]);
  assert.deepEqual([one.status, two.status, three.status], ['fulfilled', 'rejected', 'fulfilled']);
  assert.equal(connections, 1);
  assert.equal(await reads.read('', async () => 4), 4);
  assert.equal(connections, 2);
});

test('reads without a connection fail with its error', async () => {
  const reads = new GroupedReads(async () => Promise.reject(new Error('refused')));
  const results = await Promise.allSettled([
    reads.read('', async () => 1),
    reads.read('', async () => 2),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});
