import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SimulatedClock } from 'petrichor/testing';
import { delayed, NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { decisionOut, discarded, questionIn, quorum } from '../../examples/patterns/nets/quorum.ts';
import { Random } from '../verify/random.ts';

const never = async (): Promise<never> => new Promise(() => {});

describe('pattern B, quorum', () => {
  it('it is decided by the K-th fastest voter, for every K of N and any speeds', async () => {
    const random = new Random(3);
    for (let n = 1; n <= 6; n++) {
      for (let k = 1; k <= n; k++) {
        const speeds = random.some([100, 200, 300, 400, 500, 600, 700, 800], n);
        const clock = new SimulatedClock();
        const voters = Object.fromEntries(
          speeds.map((ms) => [`v${ms}`, async () => delayed(clock, ms, 'yes')]),
        );
        const simulation = new NetSimulation(quorum(k, voters), clock);
        await simulation.put(questionIn, 'q');
        const kth = speeds.toSorted((a, b) => a - b)[k - 1] ?? 0;
        await simulation.pass(kth - 1);
        assert.equal(simulation.outputs(decisionOut).length, 0);
        await simulation.pass(1);
        assert.equal(simulation.outputs(decisionOut)[0]?.length, k);
        await simulation.pass(1_000);
        assert.equal(simulation.outputs(decisionOut).length, 1);
        assert.equal(simulation.tokens(discarded).length, n - k);
      }
    }
  });

  it('it is decided without votes as soon as too many voters failed', async () => {
    const failingVoter = async (): Promise<string> => Promise.reject(new Error('down'));
    const simulation = new NetSimulation(quorum(2, { a: failingVoter, b: never, c: failingVoter }));
    await simulation.put(questionIn, 'q');
    assert.deepEqual(simulation.outputs(decisionOut), [[]]);
  });
});
