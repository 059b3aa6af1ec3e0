/** Pattern C: an optimistic commit. The cheap answer if it is valid, else the slow one, which never had to be started late. */
import assert from 'node:assert/strict';
import { SimulatedClock } from 'petrichor/testing';
import { delayed, NetSimulation } from '../cases/simulation/net-simulation.ts';
import { answerOut, optimisticCommit, questionIn } from './nets/optimistic-commit.ts';

const clock = new SimulatedClock();
const stopped: string[] = [];
const path = (name: string, ms: number) => async (question: string, signal: AbortSignal) => {
  signal.addEventListener('abort', () => stopped.push(`${name}: ${question}`));
  if (question.includes(`without ${name}`)) throw new Error('down');
  return delayed(clock, ms, name === 'cheap' ? `${question}?` : `${question}.`, signal);
};
const stage = new NetSimulation(
  optimisticCommit({
    cheap: path('cheap', 500),
    slow: path('slow', 2_000),
    isValid: (answer) => answer.length > 5,
  }),
  clock,
);

/** Asks, and waits until it is answered: by whom, and how long it took. */
async function ask(question: string): Promise<readonly [by: string, ms: number]> {
  const askedAt = clock.now();
  const before = stage.outputs(answerOut).length;
  await stage.put(questionIn, question);
  while (stage.outputs(answerOut).length === before) await stage.pass(100);
  return [stage.outputs(answerOut).at(-1)?.by ?? '', clock.now() - askedAt];
}

assert.deepEqual(await ask('a long question'), ['cheap', 500]);
assert.deepEqual(stopped, ['slow: a long question']);
assert.deepEqual(await ask('short'), ['cheap', 500]);
assert.deepEqual(await ask('ab'), ['slow', 2_000]);
assert.deepEqual(await ask('without cheap'), ['slow', 2_000]);
assert.deepEqual(await ask('without slow'), ['cheap', 500]);
assert.deepEqual(await ask('without cheap and without slow'), ['nobody', 0]);
await stage.pass(60_000);
assert.equal(stage.outputs(answerOut).length, 6);
console.log(`${stage.outputs(answerOut).length} questions, one answer each.`);
