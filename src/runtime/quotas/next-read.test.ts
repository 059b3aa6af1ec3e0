import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NextRead } from './next-read.ts';

test('callers who come during a read share the next one, which begins when the first has ended', async () => {
  const reads: { readonly resolve: (value: number) => void }[] = [];
  const read = new NextRead(async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    reads.push({ resolve });
    return promise;
  });
  const first = [read.get(), read.get()];
  await new Promise(setImmediate);
  assert.equal(reads.length, 1);
  // The read has begun: what is written from here on may be missing in it.
  const later = [read.get(), read.get()];
  await new Promise(setImmediate);
  assert.equal(reads.length, 1);
  reads[0]?.resolve(1);
  assert.deepEqual(await Promise.all(first), [1, 1]);
  await new Promise(setImmediate);
  assert.equal(reads.length, 2);
  assert.equal(read.isIdle, false);
  reads[1]?.resolve(2);
  assert.deepEqual(await Promise.all(later), [2, 2]);
  assert.equal(read.isIdle, true);
});

test('a failed read fails those who waited for it, and no later one', async () => {
  let count = 0;
  const read = new NextRead(async () => {
    count++;
    if (count === 1) throw new Error('no');
    return count;
  });
  const first = read.get();
  await assert.rejects(first, /no/);
  assert.equal(await read.get(), 2);
});
