/**
 * Case 4: a full-duplex session. Barge-in, recovery from silence in two stages, a budget for what plays, and a reset at
 * each new utterance: four nets that know nothing of each other, joined by the places they share.
 */
import assert from 'node:assert/strict';
import { SimulatedClock } from 'petrichor/testing';
import { duplexSession } from './nets/duplex-session.ts';
import {
  bargeOut,
  chunkBudget,
  liveIn,
  modelActive,
  recoveryOut,
  speechOut,
  staleOut,
  toolOut,
  voiceStarted,
  voiceStopped,
} from './nets/duplex/places.ts';
import type { LiveMessage } from './nets/duplex/places.ts';
import { delayed, NetSimulation } from './simulation/net-simulation.ts';

const clock = new SimulatedClock();
const stopped: string[] = [];
const stage = new NetSimulation(
  duplexSession({
    ask: async (_, signal) => delayed(clock, 100, undefined, signal),
    play: async (chunk, signal) => {
      signal.addEventListener('abort', () => stopped.push(chunk));
      await delayed(clock, 1_000, undefined, signal);
    },
    runTool: async (call, signal) => {
      signal.addEventListener('abort', () => stopped.push(call));
      return delayed(clock, 2_000, `${call}: done`, signal);
    },
  }),
  clock,
);

/** The user says something, for a second. */
async function say(utterance: string): Promise<void> {
  await stage.put(voiceStarted, utterance);
  await stage.pass(1_000);
  await stage.put(voiceStopped, null);
}
async function live(reply: string, kind: LiveMessage['kind'], data = ''): Promise<void> {
  await stage.put(liveIn, { reply, kind, data });
}

// A reply of three chunks: two play at once, the third waits for a permit.
await say('weather');
await stage.pass(200);
for (const chunk of ['It will', 'rain', 'all day.']) await live('weather', 'chunk', chunk);
assert.deepEqual(stage.running, ['chunk.play', 'chunk.play']);
await live('weather', 'tool', 'umbrella');
await stage.pass(1_000);
assert.deepEqual(stage.outputs(speechOut), ['It will', 'rain']);

// She speaks while the model does: what plays stops, its permit comes back, the tool of that reply stops too.
await stage.put(voiceStarted, 'stop');
assert.deepEqual(stopped.toSorted(), ['all day.', 'umbrella']);
assert.deepEqual(stage.outputs(bargeOut), ['weather']);
assert.deepEqual(stage.tokens(modelActive), []);
assert.equal(stage.tokens(chunkBudget).length, 2);
// What the connection had sent before it knew is heard by nobody.
await live('weather', 'chunk', 'And tomorrow');
await stage.put(voiceStopped, null);
await stage.pass(200);
await live('weather', 'chunk', 'it will');
assert.deepEqual(
  stage.outputs(staleOut).map(({ data }) => data),
  ['And tomorrow', 'it will'],
);

// The model stays silent: a nudge after three seconds, and that helps. No second stage while it speaks.
await stage.pass(3_000);
assert.deepEqual(stage.outputs(recoveryOut), [{ stage: 'nudge', reply: 'stop' }]);
await stage.pass(2_800);
await live('stop', 'chunk', 'All right.');
await stage.pass(20_000);
assert.equal(stage.outputs(recoveryOut).length, 1);
await live('stop', 'done');
assert.deepEqual(stage.tokens(modelActive), []);

// The model stays silent for good: nudge, then a new connection; the reply is given up.
await say('news');
await stage.pass(20_000);
assert.deepEqual(stage.outputs(recoveryOut).slice(1), [
  { stage: 'nudge', reply: 'news' },
  { stage: 'reconnect', reply: 'news' },
]);

// A new utterance wipes what was to be recovered of the one before.
await say('music');
await stage.pass(5_000);
await stage.put(voiceStarted, 'never mind');
await stage.pass(20_000);
assert.deepEqual(
  stage
    .outputs(recoveryOut)
    .slice(3)
    .map(({ stage: at, reply }) => `${at} ${reply}`),
  ['nudge music'],
);

assert.deepEqual(stage.outputs(speechOut), ['It will', 'rain', 'All right.']);
assert.deepEqual(stage.outputs(toolOut), []);
assert.deepEqual([...stage.marking.tokens.keys()].toSorted(), ['chunk.budget', 'voice.open']);
console.log(
  `${stage.outputs(speechOut).length} chunks spoken, ${stopped.length} stopped, ${stage.outputs(staleOut).length} stale, ${stage.outputs(recoveryOut).length} recoveries.`,
);
