/**
 * Case 1: concurrent fan-out with batch-scoped state. As many searches as the question needs; their collector is one
 * token, read by others while it grows, and gone with its workers when the user asks something else.
 */
import assert from 'node:assert/strict';
import { SimulatedClock } from 'petrichor/testing';
import { answerOut, fanOut, statusIn, statusOut, turnIn } from './nets/fan-out.ts';
import type { Job, Plan } from './nets/fan-out.ts';
import { delayed, NetSimulation } from './simulation/net-simulation.ts';

const clock = new SimulatedClock();
const searched: string[] = [];
const stopped: string[] = [];

/** A short question needs one strategy, a longer one all three; each takes its time. */
async function classify(question: string): Promise<Plan> {
  return question.length < 10
    ? { question, strategies: ['keywords'], merge: 'first' }
    : { question, strategies: ['keywords', 'meaning', 'history'], merge: 'all' };
}

async function search(
  { question, strategy }: Job,
  signal: AbortSignal,
): Promise<readonly string[]> {
  searched.push(`${strategy}: ${question}`);
  signal.addEventListener('abort', () => stopped.push(`${strategy}: ${question}`));
  const seconds = { keywords: 1, meaning: 2, history: 3 }[strategy] ?? 1;
  return delayed(clock, seconds * 1000, [`${question} by ${strategy}`], signal);
}

const stage = new NetSimulation(fanOut({ classify, search }), clock);

// One job, one answer.
await stage.put(turnIn, 'tea');
await stage.pass(1000);
assert.deepEqual(stage.outputs(answerOut), [{ question: 'tea', hits: ['tea by keywords'] }]);

// Three jobs at once, and somebody who wants to know meanwhile: reading takes nothing away.
await stage.put(turnIn, 'where is the old harbour');
assert.deepEqual(stage.running, ['search.run', 'search.run', 'search.run']);
await stage.put(statusIn, null);
await stage.pass(2000);
await stage.put(statusIn, null);
assert.deepEqual(stage.outputs(statusOut), [
  'Still searching: 0 of 3.',
  'Still searching: 2 of 3.',
]);

// The user asks something else: one firing takes the collector, its results and the worker that still runs.
await stage.put(turnIn, 'and the new one, please');
const begun = stage.records.findLast(
  (record) => record.kind === 'fired' && record.t === 'turn.begin',
);
assert.ok(begun?.kind === 'fired');
assert.deepEqual(
  begun.reset?.map(([place]) => place),
  ['batch.collector'],
);
assert.equal(begun.aborted?.length, 1);
assert.deepEqual(stopped, ['history: where is the old harbour']);

// What the stopped worker would have found never arrives anywhere.
await stage.pass(10_000);
const question = 'and the new one, please';
const hits = ['keywords', 'meaning', 'history'].map((strategy) => `${question} by ${strategy}`);
assert.deepEqual(stage.outputs(answerOut).slice(1), [{ question, hits }]);
assert.equal(searched.length, 1 + 3 + 3);
await stage.put(statusIn, null);
assert.equal(stage.outputs(statusOut).at(-1), 'No search is under way.');
assert.deepEqual([...stage.marking.tokens], []);
console.log(
  `${searched.length} searches, ${stopped.length} stopped, 2 answers, nothing left behind.`,
);
