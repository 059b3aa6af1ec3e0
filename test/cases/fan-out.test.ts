import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerOut, collector, fanOut, turnIn } from '../../examples/cases/nets/fan-out.ts';
import type { FanOutServices } from '../../examples/cases/nets/fan-out.ts';
import { Rehearsal } from '../../examples/cases/stage/rehearsal.ts';
import { atMostOnce, deadlockFree, placeBound, unreachable } from '../../src/verify/index.ts';
import type { Property } from '../../src/verify/index.ts';
import { Random } from '../verify/random.ts';
import { withoutInhibitor, withoutReset } from './mutant.ts';
import { assertProved, assertRefuted } from './proof.ts';

const faults = ['net.fault', 'net.fault.unhandled'];
const bounds = { environment: { 'turn.in': 2, 'status.in': 1 }, upTo: 2 };
const nobody: FanOutServices = {
  classify: async () => new Promise(() => {}),
  search: async () => new Promise(() => {}),
};
const net = fanOut(nobody);
/** Nothing of a batch outlives its collector; a fault holds what it took. */
const ofItsBatch = (place: string): Property => unreachable(place, ['batch.collector', ...faults]);

describe('case 1, fan-out', () => {
  it('merges as many results as there are jobs, in whatever order they come and fail', async () => {
    const random = new Random(7);
    for (let jobs = 1; jobs <= 8; jobs++) {
      for (let round = 0; round < 10; round++) {
        const strategies = Array.from({ length: jobs }, (_, index) => `s${index}`);
        const open: (PromiseWithResolvers<readonly string[]> & { readonly of: string })[] = [];
        const stage = new Rehearsal(
          fanOut({
            classify: async (question) => ({ question, strategies, merge: 'all' }),
            search: async ({ strategy }) => {
              const one = { of: strategy, ...Promise.withResolvers<readonly string[]>() };
              open.push(one);
              return one.promise;
            },
          }),
        );
        await stage.put(turnIn, 'q');
        assert.equal(stage.running.length, jobs);
        const found: string[] = [];
        while (open.length > 0) {
          const [one] = open.splice(random.below(open.length), 1);
          assert.ok(one);
          assert.equal(stage.heard(answerOut).length, 0);
          if (random.chance(0.25)) one.reject(new Error('down'));
          else {
            one.resolve([one.of]);
            found.push(one.of);
          }
          // Several may come in one moment.
          if (random.chance(0.5)) await stage.rest();
        }
        await stage.rest();
        assert.deepEqual(stage.heard(answerOut), [{ question: 'q', hits: found.toSorted() }]);
        assert.deepEqual([...stage.marking.tokens], []);
      }
    }
  });

  it('a result and a new question in one moment: the new question wins, and nothing stale is merged', async () => {
    const open: PromiseWithResolvers<readonly string[]>[] = [];
    const stage = new Rehearsal(
      fanOut({
        classify: async (question) => ({ question, strategies: ['a', 'b'], merge: 'all' }),
        search: async () => {
          const one = Promise.withResolvers<readonly string[]>();
          open.push(one);
          return one.promise;
        },
      }),
    );
    await stage.put(turnIn, 'old');
    for (const one of open.splice(0)) one.resolve(['stale']);
    await stage.put(turnIn, 'new');
    assert.deepEqual(
      stage.tokens(collector).map(({ question, buckets }) => ({ question, buckets })),
      [{ question: 'new', buckets: {} }],
    );
    for (const one of open) one.resolve(['fresh']);
    await stage.rest();
    assert.deepEqual(stage.heard(answerOut), [{ question: 'new', hits: ['fresh'] }]);
  });

  it('a classifier that fails falls back to one strategy', async () => {
    const stage = new Rehearsal(
      fanOut({
        classify: async () => Promise.reject(new Error('down')),
        search: async ({ strategy }) => [strategy],
      }),
    );
    await stage.put(turnIn, 'q');
    assert.deepEqual(stage.heard(answerOut), [{ question: 'q', hits: ['keywords'] }]);
  });

  it('is proved: one collector, one answer a turn, and nothing of a batch outlives it', async () => {
    await assertProved(
      net,
      [
        placeBound('batch.collector', 1),
        atMostOnce('batch.answer', { per: 'turn.in' }),
        ofItsBatch('search.job'),
        ofItsBatch('running(search.run)'),
        ofItsBatch('search.result'),
      ],
      bounds,
    );
    // That the count of a collector comes to what it expects is data: it is tested above.
    await assertProved(net, [deadlockFree(['batch.collector'])], { ...bounds, faults: 0 });
  });

  it('is refuted when the new turn forgets a worker, or a result', async () => {
    const forgetsWorker = withoutReset(net, 'turn.begin', 'running(search.run)');
    const trace = await assertRefuted(forgetsWorker, ofItsBatch('running(search.run)'), bounds);
    assert.match(trace, /turn\.begin/);
    const forgetsResult = withoutReset(net, 'turn.begin', 'search.result');
    await assertRefuted(forgetsResult, ofItsBatch('search.result'), bounds);
  });

  it('is refuted when the answer does not wait for the workers', async () => {
    const hasty = withoutInhibitor(net, 'batch.answer', 'running(search.run)');
    await assertRefuted(hasty, ofItsBatch('running(search.run)'), bounds);
  });
});
