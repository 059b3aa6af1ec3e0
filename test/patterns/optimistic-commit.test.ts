import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import {
  answerOut,
  optimisticCommit,
  questionIn,
} from '../../examples/patterns/nets/optimistic-commit.ts';

describe('pattern C, optimistic commit', () => {
  it('both paths ready in one moment: one answer, and the loser of a valid one is stopped', async () => {
    for (const isValid of [true, false]) {
      for (const order of [
        ['cheap', 'slow'],
        ['slow', 'cheap'],
      ] as const) {
        const ready = {
          cheap: Promise.withResolvers<string>(),
          slow: Promise.withResolvers<string>(),
        };
        const stage = new NetSimulation(
          optimisticCommit({
            cheap: async () => ready.cheap.promise,
            slow: async () => ready.slow.promise,
            isValid: () => isValid,
          }),
        );
        await stage.put(questionIn, 'q');
        for (const name of order) ready[name].resolve(name);
        await stage.settle();
        assert.equal(stage.outputs(answerOut).length, 1);
        if (!isValid) assert.equal(stage.outputs(answerOut)[0]?.by, 'slow');
        assert.deepEqual(stage.running, []);
      }
    }
  });

  it('a validation that throws answers nothing by itself: the slow path still does', async () => {
    const stage = new NetSimulation(
      optimisticCommit({
        cheap: async () => 'x',
        slow: async () => new Promise((resolve) => setImmediate(() => resolve('y'))),
        isValid: () => {
          throw new Error('broken');
        },
      }),
    );
    await stage.put(questionIn, 'q');
    assert.deepEqual(stage.outputs(answerOut), [{ by: 'slow', text: 'y' }]);
  });
});
