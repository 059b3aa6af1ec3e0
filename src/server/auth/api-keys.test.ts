import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { DocumentQuery, StoredDocument } from '../../store/index.ts';
import { ApiKeys } from './api-keys.ts';

class CountingStore extends MemoryStore {
  lists = 0;
  failure: Error | undefined;

  override async documents(query: DocumentQuery): Promise<readonly StoredDocument[]> {
    this.lists++;
    if (this.failure !== undefined) throw this.failure;
    return super.documents(query);
  }
}

function openKeys(): {
  clock: SimulatedClock;
  store: CountingStore;
  here: ApiKeys;
  there: ApiKeys;
} {
  const clock = new SimulatedClock(1_000_000);
  const store = new CountingStore();
  return { clock, store, here: new ApiKeys(store, clock), there: new ApiKeys(store, clock) };
}

test('requests of the same second look once for a key of another process', async () => {
  const { clock, store, here, there } = openKeys();
  await Promise.all(Array.from({ length: 10 }, async () => here.hasSeenKey()));
  await there.create('blue', 'first');
  clock.advance(999);
  assert.equal(await here.hasSeenKey(), false);
  assert.equal(store.lists, 1);
  clock.advance(1);
  assert.equal(await here.hasSeenKey(), true);
  clock.advance(5000);
  assert.equal(await here.hasSeenKey(), true);
  assert.equal(store.lists, 2);
});

test('a key of this process is seen at once, also by a request that has looked before', async () => {
  const { here } = openKeys();
  const looking = here.hasSeenKey();
  const { key } = await here.create('blue', 'first');
  assert.equal(await here.hasSeenKey(), true);
  await looking;
  await here.revoke(key.id);
  assert.equal(await here.hasSeenKey(), true);
});

test('a key of a worker does not count, and a failed look is repeated', async () => {
  const { store, here } = openKeys();
  const scope = { type: 'session', sessionId: 's', environmentId: 'e' } as const;
  await here.create('blue', 'worker', { scope });
  store.failure = new Error('The store is away.');
  await assert.rejects(here.hasSeenKey(), store.failure);
  store.failure = undefined;
  assert.equal(await here.hasSeenKey(), false);
  assert.equal(store.lists, 2);
});
