import assert from 'node:assert/strict';
import { StoreClosedError, StoreUnavailableError } from '../store-errors.ts';
import { storeContractCase, type StoreContractCase } from './contract-case.ts';
import {
  AT,
  collect,
  commitOk,
  commitSampleSteps,
  toCommittedStep,
  readContent,
  createSession,
  getExisting,
  nextStep,
  summary,
} from './sample-steps.ts';

/** Requirements about restarts, a full disk and closing. */
export const durabilityCases: readonly StoreContractCase[] = [
  storeContractCase(
    'every acknowledged write is there when the store is opened again',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { row, steps } = await commitSampleSteps(store, await createSession(store, 'one'), 40);
      const pending = [
        {
          callId: 'c',
          name: 'rm',
          args: { path: 'a' },
          needs: 'approval',
          invocationId: 'e-1',
          fingerprint: 'f',
          since: AT,
        },
      ] as const;
      await commitOk(store, [
        nextStep(
          row,
          { records: 80, events: 80 },
          {
            snapshot: { tokens: [1] },
            summary: summary({ status: 'waiting', activity: 'waiting', pending }),
            shared: { reads: {}, writes: { place: 'state', set: { 'app:theme': 'dark' } } },
          },
        ),
      ]);
      await store.inject(row.key, { place: 'session.input', value: { text: 'hi' } }, 'message');
      const before = await readContent(store, row.key);
      await store.close();

      const reopened = await harness.open();
      assert.deepEqual(await readContent(reopened, row.key), before);
      assert.deepEqual(
        (await collect(reopened.steps(row.key, 0))).slice(0, 40),
        steps.map(toCommittedStep),
      );
      assert.deepEqual((await getExisting(reopened, row.key)).pending, pending);
    },
    { durability: 'crash' },
  ),

  storeContractCase(
    'a full store fails as full and changes nothing, and works again with room',
    async (harness) => {
      const store = await harness.open();
      await store.join('one');
      const { row, cursor } = await commitSampleSteps(store, await createSession(store, 'one'), 3);
      const before = await readContent(store, row.key);
      // Random text, so that no store can compress it.
      const text = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('');
      const big = nextStep(row, cursor, { snapshot: text.match(/.{4000}/g) ?? [] });

      const empty = harness.fill();
      const full = (error: unknown): boolean =>
        error instanceof StoreUnavailableError && error.retryable && error.reason === 'full';
      await assert.rejects(store.commit([big]), full);
      await assert.rejects(store.commit([big]), full);
      assert.deepEqual(await readContent(store, row.key), before);
      empty();
      assert.deepEqual(await store.commit([big]), [{ ok: true }]);
      assert.equal((await collect(store.read(row.key))).length, 8);
    },
  ),

  storeContractCase('a closed store refuses calls, and can be closed twice', async (harness) => {
    const store = await harness.open();
    await store.join('one');
    const { key } = await createSession(store, 'one');
    const injected = store.inject(key, { place: 'session.input', value: 1 }, 'last words');
    await store.close();
    await store.close();
    assert.equal((await injected).duplicate, false);
    await assert.rejects(store.find(key), StoreClosedError);
    await assert.rejects(store.commit([]), StoreClosedError);
    await assert.rejects(
      store.inject(key, { place: 'session.input', value: 1 }, 'too late'),
      StoreClosedError,
    );
  }),
];
