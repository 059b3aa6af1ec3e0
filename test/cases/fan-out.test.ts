import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerOut, collector, fanOut, turnIn } from '../../examples/cases/nets/fan-out.ts';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { Random } from '../verify/random.ts';

describe('case 1, fan-out', () => {
  it('merges one result per job in any order, also when jobs fail', async () => {
    const random = new Random(7);
    for (let jobs = 1; jobs <= 8; jobs++) {
      for (let round = 0; round < 10; round++) {
        const strategies = Array.from({ length: jobs }, (_, index) => `s${index}`);
        const open: (PromiseWithResolvers<readonly string[]> & { readonly of: string })[] = [];
        const simulation = new NetSimulation(
          fanOut({
            classify: async (question) => ({ question, strategies, merge: 'all' }),
            search: async ({ strategy }) => {
              const job = { of: strategy, ...Promise.withResolvers<readonly string[]>() };
              open.push(job);
              return job.promise;
            },
          }),
        );
        await simulation.put(turnIn, 'q');
        assert.equal(simulation.running.length, jobs);
        const found: string[] = [];
        while (open.length > 0) {
          const [one] = open.splice(random.below(open.length), 1);
          assert.ok(one);
          assert.equal(simulation.outputs(answerOut).length, 0);
          if (random.chance(0.25)) one.reject(new Error('down'));
          else {
            one.resolve([one.of]);
            found.push(one.of);
          }
          // Several results may arrive at the same moment.
          if (random.chance(0.5)) await simulation.settle();
        }
        await simulation.settle();
        assert.deepEqual(simulation.outputs(answerOut), [
          { question: 'q', hits: found.toSorted() },
        ]);
        assert.deepEqual([...simulation.marking.tokens], []);
      }
    }
  });

  it('when a result and a new question arrive together, the result is discarded', async () => {
    const open: PromiseWithResolvers<readonly string[]>[] = [];
    const simulation = new NetSimulation(
      fanOut({
        classify: async (question) => ({ question, strategies: ['a', 'b'], merge: 'all' }),
        search: async () => {
          const search = Promise.withResolvers<readonly string[]>();
          open.push(search);
          return search.promise;
        },
      }),
    );
    await simulation.put(turnIn, 'old');
    for (const one of open.splice(0)) one.resolve(['stale']);
    await simulation.put(turnIn, 'new');
    assert.deepEqual(
      simulation.tokens(collector).map(({ question, buckets }) => ({ question, buckets })),
      [{ question: 'new', buckets: {} }],
    );
    for (const one of open) one.resolve(['fresh']);
    await simulation.settle();
    assert.deepEqual(simulation.outputs(answerOut), [{ question: 'new', hits: ['fresh'] }]);
  });

  it('when the classifier fails, one strategy is used', async () => {
    const simulation = new NetSimulation(
      fanOut({
        classify: async () => Promise.reject(new Error('down')),
        search: async ({ strategy }) => [strategy],
      }),
    );
    await simulation.put(turnIn, 'q');
    assert.deepEqual(simulation.outputs(answerOut), [{ question: 'q', hits: ['keywords'] }]);
  });
});
