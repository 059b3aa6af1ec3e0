/** Pattern A: a speculative race. The first answer wins, the losers are stopped, and a second one cannot be given. */
import assert from 'node:assert/strict';
import { SimulatedClock } from 'petrichor/testing';
import { delayed, NetSimulation } from '../cases/simulation/net-simulation.ts';
import { answerOut, firstWins, questionIn } from './nets/speculative-race.ts';

const clock = new SimulatedClock();
const stopped: string[] = [];
const branch = (name: string, ms: number) => async (question: string, signal: AbortSignal) => {
  signal.addEventListener('abort', () => stopped.push(name));
  if (question === 'nobody knows') throw new Error(`${name} does not know`);
  return delayed(clock, ms, `${question}!`, signal);
};
const race = firstWins({
  large: branch('large', 3_000),
  small: branch('small', 1_000),
  cached: branch('cached', 2_000),
});

const stage = new NetSimulation(race, clock);
await stage.put(questionIn, 'hello');
await stage.pass(1_000);
assert.deepEqual(stage.outputs(answerOut), [{ by: 'small', text: 'hello!' }]);
assert.deepEqual(stopped.toSorted(), ['cached', 'large']);
assert.deepEqual(stage.running, []);

await stage.put(questionIn, 'nobody knows');
assert.deepEqual(stage.outputs(answerOut).at(-1), { by: 'nobody', text: '' });
console.log(
  `${stage.outputs(answerOut).length} questions, one answer each; ${stopped.length} losers stopped.`,
);
