import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { answerOut, firstWins, questionIn } from '../../examples/patterns/nets/speculative-race.ts';

describe('pattern A, speculative race', () => {
  it('when all branches are ready at the same moment, the first one answers', async () => {
    for (let round = 0; round < 60; round++) {
      const names = ['a', 'b', 'c'];
      const ready = names.map(() => Promise.withResolvers<string>());
      const simulation = new NetSimulation(
        firstWins(
          Object.fromEntries(
            names.map((name, index) => [name, async () => ready[index]?.promise ?? '']),
          ),
        ),
      );
      await simulation.put(questionIn, 'q');
      for (const index of [0, 1, 2]) ready[(index + round) % 3]?.resolve('x');
      await simulation.settle();
      assert.deepEqual(simulation.outputs(answerOut), [{ by: names[round % 3], text: 'x' }]);
      assert.deepEqual(simulation.running, []);
    }
  });
});
