import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import {
  answerOut,
  optimisticCommit,
  questionIn,
} from '../../examples/patterns/nets/optimistic-commit.ts';

describe('pattern C, optimistic commit', () => {
  it('when both paths are ready at the same moment, there is one answer, and a valid answer stops the other path', async () => {
    for (const isValid of [true, false]) {
      for (const order of [
        ['cheap', 'slow'],
        ['slow', 'cheap'],
      ] as const) {
        const ready = {
          cheap: Promise.withResolvers<string>(),
          slow: Promise.withResolvers<string>(),
        };
        const simulation = new NetSimulation(
          optimisticCommit({
            cheap: async () => ready.cheap.promise,
            slow: async () => ready.slow.promise,
            isValid: () => isValid,
          }),
        );
        await simulation.put(questionIn, 'q');
        for (const name of order) ready[name].resolve(name);
        await simulation.settle();
        assert.equal(simulation.outputs(answerOut).length, 1);
        if (!isValid) assert.equal(simulation.outputs(answerOut)[0]?.by, 'slow');
        assert.deepEqual(simulation.running, []);
      }
    }
  });

  it('when the validation throws, the slow path answers', async () => {
    const simulation = new NetSimulation(
      optimisticCommit({
        cheap: async () => 'x',
        slow: async () => new Promise((resolve) => setImmediate(() => resolve('y'))),
        isValid: () => {
          throw new Error('broken');
        },
      }),
    );
    await simulation.put(questionIn, 'q');
    assert.deepEqual(simulation.outputs(answerOut), [{ by: 'slow', text: 'y' }]);
  });
});
