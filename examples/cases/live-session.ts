/**
 * Case 4 on `petrichor/live`: the same four tasks as nets that are shipped and proved, in a session that is journaled.
 * The model, its voice and the user's are scripted; the clock is simulated.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTick } from 'node:timers/promises';
import { openRuntime } from 'petrichor';
import { LiveHub, liveAgent, ScriptedLive } from 'petrichor/live';
import type { LiveClient, VoiceCall } from 'petrichor/live';
import { SimulatedClock } from 'petrichor/testing';

const clock = new SimulatedClock();
const model = new ScriptedLive(
  {
    turns: [
      { heard: 'How is the weather?', text: 'It will rain all day, and tomorrow too.' },
      { heard: 'Stop.', text: 'All right.' },
      // It stays silent: it is nudged, then asked over another connection.
      { heard: 'The news?', text: 'No news.', delayMs: 3_600_000 },
    ],
  },
  { clock },
);
const hub = new LiveHub();
const runtime = await openRuntime({
  agents: [liveAgent({ name: 'assistant', model })],
  clock,
  live: hub,
});
const session = await runtime.session('case-4');

// A player: audio of one reply, in real time.
let reply = '';
let receivedMs = 0;
let playedMs = 0;
let isPlaying = false;
const happened: string[] = [];
const client: LiveClient = {
  onAudio: (audio) => {
    if (audio.reply !== reply) [reply, playedMs] = [audio.reply, 0];
    receivedMs = audio.toMs;
    isPlaying = true;
  },
  onPause: () => {
    isPlaying = false;
    happened.push('pause');
  },
  onResume: () => (isPlaying = true),
  onFlush: () => {
    isPlaying = false;
    receivedMs = playedMs;
    happened.push('drop');
    call.stopped(reply, playedMs);
  },
};
const call: VoiceCall = await hub.call(session, client);
const countConnections = (): number => model.requests.length;

/** Lets time pass, with time for commits. */
async function pass(ms: number): Promise<void> {
  for (let at = 0; at <= ms; at += 20) {
    for (let turn = 0; turn < 12; turn++) {
      await nextTick();
      clock.advance(0);
    }
    clock.advance(20);
    if (!isPlaying || playedMs >= receivedMs) continue;
    playedMs = Math.min(receivedMs, playedMs + 20);
    call.played(reply, playedMs);
  }
}

/** The user says something for 300 ms. */
async function say(): Promise<void> {
  for (let at = 0; at < 500; at += 20) {
    const frame = new Int16Array(320).fill(at < 300 ? 4_000 : 0);
    call.sendAudio(new Uint8Array(frame.buffer));
    await pass(0);
  }
}

await pass(100);
await say();
await pass(500);
// She speaks while the model does: playback pauses at once, and is dropped when that is committed.
await say();
assert.deepEqual(happened, ['pause', 'drop']);
await pass(2_000);

// The model stays silent: a nudge after three seconds, a new connection three seconds later.
await say();
await pass(3_500);
assert.deepEqual(
  model.commands.map(({ kind }) => kind),
  ['truncate', 'nudge'],
);
assert.equal(countConnections(), 1);
await pass(3_500);
assert.equal(countConnections(), 2);
await call.hangUp();
await session.interrupt();
await pass(200);

const log: string[] = [];
for await (const event of session.events(0, { follow: false })) {
  if (event.type === 'turn.ended') log.push(event.stopReason);
  if (event.type !== 'agent.message' && event.type !== 'user.message') continue;
  log.push(event.content.parts.map((part) => ('text' in part ? part.text : '')).join(''));
}
const [, heard = ''] = log;
// The conversation keeps what was heard, not what was generated.
assert.match(heard, /^It will( rain( all)?)?$/);
assert.deepEqual(
  log.filter((line) => line !== heard),
  [
    'How is the weather?',
    'interrupted',
    'Stop.',
    'All right.',
    'end_turn',
    'The news?',
    'interrupted',
  ],
);
await runtime.close();
console.log(`She heard "${heard}". ${countConnections()} connections, ${log.length} lines.`);
