/** Pattern B: a quorum. Three of five decide, in the moment the third votes; the others are late, and are kept apart. */
import assert from 'node:assert/strict';
import { SimulatedClock } from 'petrichor/testing';
import { delayed, NetSimulation } from '../cases/simulation/net-simulation.ts';
import { decisionOut, discarded, questionIn, quorum } from './nets/quorum.ts';

const clock = new SimulatedClock();
const seconds = { anna: 5, ben: 1, cleo: 2, dan: 9, eve: 3 };
const voters = Object.fromEntries(
  Object.entries(seconds).map(([name, s]) => [
    name,
    async () => delayed(clock, s * 1000, `${name} says yes`),
  ]),
);

const stage = new NetSimulation(quorum(3, voters), clock);
await stage.put(questionIn, 'is it safe?');
await stage.pass(2_999);
assert.deepEqual(stage.outputs(decisionOut), []);
await stage.pass(1);
const decidedAt = clock.now();
assert.deepEqual(
  stage.outputs(decisionOut).map((votes) => votes.map(({ by }) => by)),
  [['ben', 'cleo', 'eve']],
);
assert.equal(decidedAt, 3_000, 'as fast as the third');

await stage.pass(10_000);
assert.deepEqual(
  stage.tokens(discarded).map(({ by }) => by),
  ['anna', 'dan'],
);
assert.equal(stage.outputs(decisionOut).length, 1);
console.log(`Decided after ${decidedAt / 1000} s; ${stage.tokens(discarded).length} late votes.`);
