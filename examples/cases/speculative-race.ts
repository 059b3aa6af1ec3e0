/**
 * Case 3: a speculative race with a deadline, a third tier that is added without touching the others, and a barge-in that
 * empties all of it at once.
 */
import assert from 'node:assert/strict';
import { SimulatedClock } from 'petrichor/testing';
import {
  answerOut,
  interruptIn,
  questionIn,
  sent,
  speculativeRace,
  withCachedDefault,
} from './nets/speculative-race.ts';
import { delayed, NetSimulation } from './simulation/net-simulation.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** A race of three tiers whose first two take so long; what was stopped is noted. */
function racing(slowMs: number, fastMs: number): { stage: NetSimulation; stopped: string[] } {
  const clock = new SimulatedClock();
  const stopped: string[] = [];
  const path = (name: string, ms: number) => async (question: string, signal: AbortSignal) => {
    signal.addEventListener('abort', () => stopped.push(name));
    return delayed(clock, ms, `${question}, says ${name}`, signal);
  };
  const race = speculativeRace({ slow: path('slow', slowMs), fast: path('fast', fastMs) });
  return {
    stage: new NetSimulation(withCachedDefault(race, 'I do not know yet.'), clock),
    stopped,
  };
}

/** Asks, and waits until the answer is out: who gave it, and when. */
async function ask(slowMs: number, fastMs: number): Promise<readonly [by: string, ms: number]> {
  const { stage } = racing(slowMs, fastMs);
  await stage.put(questionIn, 'q');
  while (stage.outputs(answerOut).length === 0) await stage.pass(100);
  const at = stage.clock.now();
  await stage.pass(60_000);
  assert.equal(stage.outputs(answerOut).length, 1, 'one answer, whatever comes later');
  return [stage.outputs(answerOut)[0]?.by ?? '', at];
}

assert.deepEqual(await ask(1_500, 300), ['slow', 1_500]); // in time: the better one
assert.deepEqual(await ask(4_000, 300), ['fast', 2_000]); // too late: the fast one, at the deadline
assert.deepEqual(await ask(4_000, 3_000), ['fast', 3_000]); // both late: whoever comes first
assert.deepEqual(await ask(2_000, 2_000), ['slow', 2_000]); // all in one moment: the better one
assert.deepEqual(await ask(NEVER, NEVER), ['cached', 5_000]); // neither: what was prepared

// A barge-in in the middle of a race stops both paths and the timer, in one firing.
const { stage, stopped } = racing(4_000, 3_000);
await stage.put(questionIn, 'q');
await stage.pass(2_500);
await stage.put(interruptIn, null);
assert.deepEqual(stopped.toSorted(), ['fast', 'slow']);
assert.deepEqual([...stage.marking.tokens], []);
await stage.pass(60_000);
assert.deepEqual(stage.outputs(answerOut), []);

// The next turn starts clean; one after an answer finds the lock open again.
for (const question of ['second', 'third']) {
  await stage.put(questionIn, question);
  assert.deepEqual(stage.tokens(sent), []);
  await stage.pass(10_000);
  assert.deepEqual(stage.tokens(sent), [null]);
}
assert.deepEqual(
  stage.outputs(answerOut).map(({ text }) => text),
  ['second, says fast', 'third, says fast'],
);
console.log('Five races, one answer each; a barge-in, and two clean turns after it.');
