import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerOut, collector, fanOut, turnIn } from '../../examples/cases/nets/fan-out.ts';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { Random } from '../verify/random.ts';

describe('case 1, fan-out', () => {
  it('merges as many results as there are jobs, in whatever order they come and fail', async () => {
    const random = new Random(7);
    for (let jobs = 1; jobs <= 8; jobs++) {
      for (let round = 0; round < 10; round++) {
        const strategies = Array.from({ length: jobs }, (_, index) => `s${index}`);
        const open: (PromiseWithResolvers<readonly string[]> & { readonly of: string })[] = [];
        const stage = new NetSimulation(
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
          assert.equal(stage.outputs(answerOut).length, 0);
          if (random.chance(0.25)) one.reject(new Error('down'));
          else {
            one.resolve([one.of]);
            found.push(one.of);
          }
          // Several may come in one moment.
          if (random.chance(0.5)) await stage.settle();
        }
        await stage.settle();
        assert.deepEqual(stage.outputs(answerOut), [{ question: 'q', hits: found.toSorted() }]);
        assert.deepEqual([...stage.marking.tokens], []);
      }
    }
  });

  it('a result and a new question in one moment: the new question wins, and nothing stale is merged', async () => {
    const open: PromiseWithResolvers<readonly string[]>[] = [];
    const stage = new NetSimulation(
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
    await stage.settle();
    assert.deepEqual(stage.outputs(answerOut), [{ question: 'new', hits: ['fresh'] }]);
  });

  it('a classifier that fails falls back to one strategy', async () => {
    const stage = new NetSimulation(
      fanOut({
        classify: async () => Promise.reject(new Error('down')),
        search: async ({ strategy }) => [strategy],
      }),
    );
    await stage.put(turnIn, 'q');
    assert.deepEqual(stage.outputs(answerOut), [{ question: 'q', hits: ['keywords'] }]);
  });
});
