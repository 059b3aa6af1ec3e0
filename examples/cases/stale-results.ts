/**
 * Case 2: stale results at many commit sites. Chunks, tool results and fillers are in flight when the user goes on; one
 * token changes, and none of them enters the history. A commit site that forgets to look is refused.
 */
import assert from 'node:assert/strict';
import { checkInvariants, InvariantError } from 'petrichor/agents';
import { compile } from 'petrichor/net';
import { SimulatedClock } from 'petrichor/testing';
import { conversation, staleOut, staleResults, turnIn } from './nets/stale-results.ts';
import { delayed, NetSimulation } from './simulation/net-simulation.ts';

const clock = new SimulatedClock();
const net = staleResults({
  stream: async ({ text }) => delayed(clock, 3000, [`so, ${text}`, 'and that is that']),
  tool: async ({ text }) => delayed(clock, 2000, `${text} is done`),
  filler: async () => delayed(clock, 1000, 'One moment.'),
});

// By its arcs alone: every way into the conversation reads the generation.
const names = { generation: 'generation.latest', committed: ['conversation'] };
checkInvariants(compile(net), { generation: names });
const forgetful = {
  ...net,
  transitions: net.transitions.map((t) => (t.name === 'filler.commit' ? { ...t, read: {} } : t)),
};
assert.throws(
  () => checkInvariants(compile(forgetful), { generation: names }),
  (error: unknown) =>
    error instanceof InvariantError &&
    /"filler.commit" commits to "conversation"/.test(error.message),
);

const stage = new NetSimulation(net, clock);

// The first turn gets as far as its filler; then the user changes her mind.
await stage.put(turnIn, { text: 'book the train', tools: ['search', 'reserve'] });
await stage.pass(1500);
await stage.put(turnIn, { text: 'no, the boat', tools: [] });
assert.deepEqual(stage.running.toSorted(), [
  'filler.write',
  'model.stream',
  'model.stream',
  'tool.run',
  'tool.run',
]);
await stage.pass(60_000);

assert.deepEqual(stage.list(conversation), [
  { generation: 1, by: 'user', text: 'book the train' },
  { generation: 1, by: 'filler', text: 'One moment.' },
  { generation: 2, by: 'user', text: 'no, the boat' },
  { generation: 2, by: 'filler', text: 'One moment.' },
  { generation: 2, by: 'model', text: 'so, no, the boat' },
  { generation: 2, by: 'model', text: 'and that is that' },
]);
// The tools of the first turn did not ask the model again either.
const asked = stage.records.filter(
  (record) => record.kind === 'started' && record.t === 'model.stream',
);
assert.equal(asked.length, 2);
assert.deepEqual(
  stage.outputs(staleOut).map(({ by, text }) => `${by}: ${text}`),
  [
    'tool: search is done',
    'tool: reserve is done',
    'model: so, book the train',
    'model: and that is that',
  ],
);
console.log(
  `${stage.list(conversation).length} lines of history, ${stage.outputs(staleOut).length} stale results kept out of it.`,
);
