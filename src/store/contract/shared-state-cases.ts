import assert from 'node:assert/strict';
import type { MapChange } from '../../net/index.ts';
import type { CommitResult, Store } from '../store.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  commitOne,
  readContent,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
} from './sample-steps.ts';

export const sharedStateCases: readonly StoreContractCase[] = [
  storeContractCase(
    'user state is visible to that user, app state to all users',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await createSession(store, 'one', 'a');
      await write(store, 'a', { set: { 'user:name': 'Ada', 'app:theme': 'dark' } });
      assert.deepEqual(await store.shared({ appName: 'app', userId: 'ada' }), {
        entries: { 'user:name': 'Ada', 'app:theme': 'dark' },
        versions: { 'user:name': 1, 'app:theme': 1 },
      });
      assert.deepEqual(await store.shared({ appName: 'app', userId: 'bob' }), {
        entries: { 'app:theme': 'dark' },
        versions: { 'app:theme': 1 },
      });
      assert.deepEqual(await store.shared({ appName: 'other', userId: 'ada' }), {
        entries: {},
        versions: {},
      });
    },
  ),

  storeContractCase(
    'each step that writes or deletes a key increases its version by one',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await createSession(store, 'one', 'a');
      const state = async (): Promise<unknown> => {
        const { entries, versions } = await store.shared({ appName: 'app', userId: 'ada' });
        return [entries['user:k'], versions['user:k']];
      };
      await write(store, 'a', { set: { 'user:k': 1 } });
      assert.deepEqual(await state(), [1, 1]);
      await write(store, 'a', { set: { 'user:k': null } });
      assert.deepEqual(await state(), [null, 2]);
      await write(store, 'a', { delete: ['user:k'] });
      assert.deepEqual(await state(), [undefined, 3]);
      await write(store, 'a', { set: { 'user:k': 1 } });
      assert.deepEqual(await state(), [1, 4]);
      // No version names two values, so a read from before the delete conflicts.
      assert.deepEqual(await write(store, 'a', { set: { 'user:k': 2 } }, { 'user:k': 1 }), {
        ok: false,
        refused: 'conflict',
        keys: ['user:k'],
      });
      assert.deepEqual(await write(store, 'a', { set: { 'user:k': 2 } }, { 'user:k': 4 }), {
        ok: true,
      });
    },
  ),

  storeContractCase('increments and appends of several sessions add up', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const ids = Array.from({ length: 10 }, (_, index) => `s${index}`);
    for (const id of ids) await createSession(store, 'one', id);
    const change = (index: number): Partial<MapChange> => ({
      increment: { 'app:count': 1, 'user:sum': index },
      append: { 'app:names': [index, `n${index}`] },
    });
    const rows = await Promise.all(ids.map((id) => getExisting(store, sessionKey(id))));
    const results = await store.commit(
      rows.map((row, index) =>
        nextStep(row, undefined, {
          shared: { reads: {}, writes: { place: 'state', ...change(index) } },
        }),
      ),
    );
    assert.ok(results.every(({ ok }) => ok));
    const { entries, versions } = await store.shared({ appName: 'app', userId: 'ada' });
    assert.equal(entries['app:count'], 10);
    assert.equal(entries['user:sum'], 45);
    assert.deepEqual(
      entries['app:names'],
      ids.flatMap((_, index) => [index, `n${index}`]),
    );
    assert.deepEqual(versions, { 'app:count': 10, 'user:sum': 10, 'app:names': 10 });
  }),

  storeContractCase(
    'a change sets, then deletes, then increments, then appends',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await createSession(store, 'one', 'a');
      await write(store, 'a', { set: { 'app:text': 'x', 'app:kept': 1, 'app:gone': 1 } });
      await write(store, 'a', {
        set: { 'app:n': 5, 'app:gone': 2, 'app:list': [1] },
        delete: ['app:gone', 'app:never'],
        increment: { 'app:n': 2, 'app:text': 3 },
        append: { 'app:list': [2], 'app:kept': ['a'] },
        replace: true,
      });
      const { entries } = await store.shared({ appName: 'app', userId: 'ada' });
      assert.deepEqual(entries, {
        'app:text': 3,
        'app:kept': ['a'],
        'app:n': 7,
        'app:list': [1, 2],
      });
    },
  ),

  storeContractCase(
    'a step based on a changed key is refused and writes nothing',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await createSession(store, 'one', 'a');
      await createSession(store, 'one', 'b');
      await write(store, 'a', { set: { 'user:k': 1, 'app:other': 1 } });
      await write(store, 'b', { set: { 'user:k': 2 } }, { 'user:k': 1 });
      const before = await readContent(store, sessionKey('a'));
      const reads = { 'user:k': 1, 'app:other': 1, 'user:new': 1 };
      const change = { set: { 'user:k': 9 }, increment: { 'app:other': 1 } };
      assert.deepEqual(await write(store, 'a', change, reads), {
        ok: false,
        refused: 'conflict',
        keys: ['user:k', 'user:new'],
      });
      assert.deepEqual(await readContent(store, sessionKey('a')), before);
      assert.deepEqual(
        await write(store, 'a', change, { 'user:k': 2, 'app:other': 1, 'user:new': 0 }),
        { ok: true },
      );
    },
  ),

  storeContractCase(
    'of two steps in one commit that are based on the same key, the second is refused',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const rows = [await createSession(store, 'one', 'a'), await createSession(store, 'one', 'b')];
      const steps = rows.map((row) =>
        nextStep(row, undefined, {
          shared: {
            reads: { 'app:k': 0 },
            writes: { place: 'state', set: { 'app:k': row.key.sessionId } },
          },
        }),
      );
      assert.deepEqual(await store.commit(steps), [
        { ok: true },
        { ok: false, refused: 'conflict', keys: ['app:k'] },
      ]);
      const { entries } = await store.shared({ appName: 'app', userId: 'ada' });
      assert.deepEqual(entries, { 'app:k': 'a' });
    },
  ),

  storeContractCase(
    'a key of shared state may have any name, and its value any size',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      await createSession(store, 'one', 'a');
      const entries = {
        'user:__proto__': 1,
        'app:constructor': 'x'.repeat(20_000),
        'user:': { a: [null] },
        'app:': 0,
      };
      await write(store, 'a', { set: entries });
      assert.deepEqual((await store.shared({ appName: 'app', userId: 'ada' })).entries, entries);
    },
  ),
];

/** Commits a step that only writes shared state. */
async function write(
  store: Store,
  sessionId: string,
  change: Omit<Partial<MapChange>, 'place'>,
  reads: Readonly<Record<string, number>> = {},
): Promise<CommitResult | undefined> {
  const row = await getExisting(store, sessionKey(sessionId));
  const shared = { reads, writes: { place: 'state', ...change } };
  return commitOne(store, nextStep(row, undefined, { records: [], events: [], shared }));
}
