/** What the client has heard is in the conversation, and what another reply or connection does changes nothing of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokensIn } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import type { LiveListener, LiveModel, LiveSignal, ScriptedLive } from '../../src/live/index.ts';
import type { ScriptedLiveTurn } from '../../src/live/models/scripted/scripted-live-turn.ts';
import { talk } from './talk.ts';
import type { Talk } from './talk.ts';

const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'demo' };
const text = 'One two three four five six seven eight.';
const again = Array.from({ length: 4 }, () => ({ heard: 'Hello?', text: 'Hi.' }));
/** Speaks as fast as it is heard, so that its text is not committed before its end. */
const slow = { heard: 'Talk.', text, wordDelayMs: 200 };
const lost: LiveSignal = { kind: 'closed', reason: 'lost', retryable: true };

/** A model whose connections a test can break and speak for. A connection that is lost reports nothing more. */
function tap(live: ScriptedLive, lines: LiveListener[]): LiveModel {
  return {
    name: live.name,
    open: async (request, context) => {
      let isLost = false;
      const { listener } = context;
      const line: LiveListener = {
        onSignal: (signal) => {
          if (!isLost) listener.onSignal(signal);
          isLost ||= signal.kind === 'closed';
        },
        onMedia: (media) => isLost || listener.onMedia(media),
        onPartial: (partial) => isLost || listener.onPartial?.(partial),
      };
      lines.push(line);
      return live.open(request, { ...context, listener: line });
    },
  };
}

/** Has the model speak for a second. */
async function begin(turn: Partial<ScriptedLiveTurn>, lines: LiveListener[]): Promise<Talk> {
  const one = await talk({ turns: [{ ...slow, ...turn }, ...again] }, [], {}, {}, (live) =>
    tap(live, lines),
  );
  await one.call.say(300);
  await one.call.until(() => one.call.client.heard.length > 0);
  await one.call.pass(1_000);
  return one;
}

/** A reply that nobody has asked for, as a model makes one when it was nudged too early. */
function speakUnrequested(line: LiveListener | undefined, signals: readonly LiveSignal[]): void {
  const reply = 'r9';
  line?.onSignal({ kind: 'begun', reply });
  line?.onMedia({ reply, data: new Uint8Array(960), fromMs: 0, toMs: 20 });
  for (const signal of signals) line?.onSignal(signal);
}

const interrupted: readonly LiveSignal[] = [
  { kind: 'interrupted', reply: 'r9' },
  { kind: 'done', reply: 'r9', finishReason: 'stop', interrupted: true },
];
const calls: readonly LiveSignal[] = [
  { kind: 'call', reply: 'r9', calls: [{ id: 'c9', name: 'find', args: {} }] },
  { kind: 'done', reply: 'r9', finishReason: 'tool_calls', interrupted: false },
];

const interruptions: Readonly<Record<string, (one: Talk, line?: LiveListener) => Promise<void>>> = {
  'speech of the user': async ({ call }) => call.speak(300),
  'an interrupt of the session': async ({ call }) => void call.session.interrupt(),
  'the server': async (_, line) => line?.onSignal({ kind: 'interrupted', reply: 'r1' }),
};
for (const [name, interrupt] of Object.entries(interruptions))
  test(`a reply in its first window that is cut by ${name} keeps what was heard, once`, async () => {
    const lines: LiveListener[] = [];
    await using one = await begin({}, lines);
    await interrupt(one, lines[0]);
    await one.call.pass(1_000);
    const [said, end] = (await one.call.log()).slice(-2);
    assert.match(said ?? '', /^model: One two three four( five( six)?)?$/);
    assert.equal(end, 'ended: interrupted');
  });

test('a reply during which the user hangs up keeps what was heard', async () => {
  await using one = await begin({}, []);
  await one.call.hangUp();
  await one.call.pass(1_000);
  assert.match((await one.call.log())[2] ?? '', /^model: One two three four five/);
});

test('the loss of the next connection does not touch the reply over the present one', async () => {
  const lines: LiveListener[] = [];
  await using one = await begin({}, lines);
  lines[0]?.onSignal({ kind: 'go-away' });
  await one.call.until(() => lines.length > 1);
  await one.call.pass(100);
  lines[1]?.onSignal(lost);
  await one.call.pass(8_000);
  assert.deepEqual((await one.call.log()).slice(2), [`model: ${text}`, 'ended: end_turn']);
  assert.deepEqual(one.call.client.heard, ['reply']);
  assert.equal(one.live.commands.length, 0);
});

for (const [name, signals] of Object.entries({ interrupted, calls }))
  test(`a reply that nobody has asked for ends nothing of the one that plays: ${name}`, async () => {
    const lines: LiveListener[] = [];
    await using one = await begin({}, lines);
    speakUnrequested(lines[0], signals);
    await one.call.pass(8_000);
    assert.deepEqual((await one.call.log()).slice(2), [`model: ${text}`, 'ended: end_turn']);
  });

test('after a reply that nobody has asked for a lost connection is noticed', async () => {
  for (const isPlaying of [false, true]) {
    const lines: LiveListener[] = [];
    // The server speaks one reply at a time.
    await using one = await begin({ wordDelayMs: 0 }, lines);
    if (!isPlaying) await one.call.pass(8_000);
    speakUnrequested(lines[0], []);
    await one.call.pass(100);
    for (const signal of interrupted) lines[0]?.onSignal(signal);
    await one.call.pass(100);
    lines[0]?.onSignal(lost);
    await one.call.until(() => lines.length > 1);
    await one.call.until(async () => (await one.call.log()).at(-1) === 'ended: end_turn');
    const marking = await hydrate(one.store, KEY);
    assert.equal(tokensIn(marking, 'link.up').length, 1);
    assert.equal(tokensIn(marking, 'turn.permit').length, 1);
  }
});
