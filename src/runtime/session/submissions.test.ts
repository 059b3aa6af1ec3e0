import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { MemoryStore } from '../../store/index.ts';
import type { InjectReceipt, SessionInput } from '../../store/index.ts';
import { Submissions } from './submissions.ts';

/** What a session does with an input that it is offered. */
const decision = fc.constantFrom('declines', 'accepts', 'gives up', 'fails');

test('inputs of a session are accepted in the order they were written, whoever accepts them', async () => {
  const plan = fc.array(fc.record({ decision, turns: fc.nat(3), wait: fc.boolean() }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(plan, async (inputs) => {
      const order: number[] = [];
      const failed = new Set<number>();
      const store = new MemoryStore();
      await store.join('owner');
      const key = { appName: 'a', userId: 'u', sessionId: 's' };
      await store.create(key, { agent: 'a', owner: 'owner', at: 1, netHash: 'n' });
      const inject = store.inject.bind(store);
      store.inject = async (...args) => {
        order.push(Number(args[2]));
        return inject(...args);
      };
      const accept = async (one: SessionInput): Promise<InjectReceipt | undefined> => {
        const { decision: decided, turns = 0 } = inputs[Number(one.dedupeKey)] ?? {};
        for (let n = 0; n < turns; n++) await new Promise(setImmediate);
        if (decided === 'fails') {
          failed.add(Number(one.dedupeKey));
          throw new Error('The outcome is unknown.');
        }
        if (decided === 'gives up') return undefined;
        order.push(Number(one.dedupeKey));
        return { inputSeq: 0, duplicate: false };
      };
      const submissions = new Submissions({
        store,
        accept: (one) =>
          inputs[Number(one.dedupeKey)]?.decision === 'declines' ? undefined : accept(one),
        onWrite: () => () => {},
        schedule: () => {},
      });
      const results: Promise<unknown>[] = [];
      for (const [index, { wait }] of inputs.entries()) {
        const input = { place: 'p', value: null };
        const written = submissions.write({ key, input, dedupeKey: String(index) });
        written.catch(() => {});
        results.push(written);
        if (wait) await new Promise(setImmediate);
      }
      const settled = await Promise.allSettled(results);
      assert.deepEqual(
        settled.map(({ status }) => status === 'rejected'),
        inputs.map((_, index) => failed.has(index)),
      );
      const expected = inputs.flatMap((_, index) => (failed.has(index) ? [] : index));
      assert.deepEqual(order, expected);
    }),
    { numRuns: 60 },
  );
});

test('a session is given no input while an earlier one is being written to its inbox', async () => {
  const store = new MemoryStore();
  await store.join('owner');
  const key = { appName: 'a', userId: 'u', sessionId: 's' };
  await store.create(key, { agent: 'a', owner: 'owner', at: 1, netHash: 'n' });
  const order: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const inject = store.inject.bind(store);
  store.inject = async (...args) => {
    order.push(args[2]);
    if (args[2] === 'first') await gates[0]?.promise;
    return inject(...args);
  };
  let isAtRest = false;
  const submissions = new Submissions({
    store,
    accept: ({ dedupeKey }) => {
      if (!isAtRest) return undefined;
      order.push(`${dedupeKey}, directly`);
      return Promise.resolve({ inputSeq: 0, duplicate: false });
    },
    onWrite: () => () => {},
    schedule: () => {},
  });
  const write = async (dedupeKey: string): Promise<InjectReceipt> =>
    submissions.write({ key, input: { place: 'p', value: null }, dedupeKey });
  const first = write('first');
  isAtRest = true;
  await write('second');
  gates[0]?.resolve();
  await first;
  const batch = submissions.writeBatch([key, key], async () => gates[1]?.promise);
  for (let n = 0; n < 5; n++) await Promise.resolve();
  await write('third');
  gates[1]?.resolve();
  await batch;
  await write('fourth');
  assert.deepEqual(order, ['first', 'second', 'third', 'fourth, directly']);
});
