import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { LiveHub, liveAgent } from '../../src/live/index.ts';
import type { LiveModel } from '../../src/live/index.ts';
import { ScriptedLive } from '../../src/live/models/scripted/scripted-live.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';
import { passTime, SimulatedCall, SimulatedClient } from './simulated-call.ts';
import { talk } from './talk.ts';

test('speech is answered by speech, with both transcripts in the log', async () => {
  await using one = await talk({ turns: [{ heard: 'Hello?', text: 'Hi there.' }] });
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual(await one.call.log(), [
    'turn.started',
    'user: Hello?',
    'model: Hi there.',
    'ended: end_turn',
  ]);
  assert.deepEqual(one.call.client.heard, ['reply']);
});

test('a message during a call is answered over the connection, and after the call by the text model', async () => {
  await using one = await talk({ turns: [{ text: 'Spoken.' }] });
  void one.call.session.send('Say something.');
  await one.call.pass(1_000);
  await one.call.hangUp();
  void one.call.session.send('And now?');
  await one.call.pass(100);
  assert.deepEqual(await one.call.log(), [
    'user: Say something.',
    'turn.started',
    'model: Spoken.',
    'ended: end_turn',
    'user: And now?',
    'turn.started',
    'model: I have 3 messages.',
    'ended: end_turn',
  ]);
});

const isEnd = (line: string): boolean => line === 'ended: end_turn';

test('the tools of a spoken turn read the run config of the call that was begun last', async () => {
  const seen: unknown[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    execute: async (_, { runConfig }) => void seen.push(runConfig),
  });
  const turns = ['c1', 'c2', 'c3'].flatMap((id) => [
    { heard: 'Look.', toolCalls: [{ id, name: 'look', args: {} }] },
    { text: 'Seen.' },
  ]);
  await using one = await talk({ turns }, [look]);
  for (const [turn, options] of [{}, { runConfig: { limit: 1 } }, {}].entries()) {
    await one.hub.call(one.call.session, one.call.client, options);
    await one.call.say(300);
    await one.call.until(async () => (await one.call.log()).filter(isEnd).length > turn);
  }
  assert.deepEqual(seen, [{}, { limit: 1 }, {}]);
});

test('speech interrupts a reply: the client is told at once, and the conversation keeps what was heard', async () => {
  await using one = await talk({
    turns: [
      { heard: 'Tell me all.', text: 'One two three four five six seven eight.' },
      { heard: 'Stop.', text: 'All right.' },
    ],
  });
  await one.call.say(300);
  await one.call.until(() => one.call.client.heard.length > 0);
  await one.call.pass(500);
  await one.call.say(300);
  await one.call.pass(2_000);
  const [, , interrupted = '', ...rest] = await one.call.log();
  assert.match(interrupted, /^model: One two( three( four)?)?$/);
  assert.deepEqual(rest, [
    'ended: interrupted',
    'turn.started',
    'user: Stop.',
    'model: All right.',
    'ended: end_turn',
  ]);
  const [first, paused = '', flushed = '', second] = one.call.client.heard;
  assert.deepEqual([first, second], ['reply', 'reply']);
  assert.equal(paused.replace('pause', ''), flushed.replace('flush', ''), 'nothing played between');
});

test('tools run as in any turn, and one that needs approval waits for it', async () => {
  const done: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ to: z.string() }),
    needsApproval: true,
    execute: async ({ to }) => {
      done.push(to);
      return { paid: to };
    },
  });
  await using one = await talk(
    {
      turns: [
        { heard: 'Pay Ann.', toolCalls: [{ id: 'c1', name: 'pay', args: { to: 'Ann' } }] },
        { text: 'Paid.' },
      ],
    },
    [pay],
  );
  await one.call.say(300);
  await one.call.pass(500);
  const [pending] = await one.call.session.pending();
  assert.equal(pending?.name, 'pay');
  assert.deepEqual(done, []);
  void one.call.session.approve(pending.callId);
  await one.call.pass(1_000);
  assert.deepEqual(done, ['Ann']);
  assert.deepEqual((await one.call.log()).slice(-3), [
    'tool: ok',
    'model: Paid.',
    'ended: end_turn',
  ]);
  const results = one.live.commands.filter(({ kind }) => kind === 'tool-result');
  assert.deepEqual(results, [
    { kind: 'tool-result', results: [{ callId: 'c1', name: 'pay', response: { paid: 'Ann' } }] },
  ]);
});

test('an interrupt from outside stops the reply and keeps what was released', async () => {
  await using one = await talk({
    turns: [{ heard: 'Talk.', text: 'One two three four five six.' }],
  });
  await one.call.say(300);
  await one.call.pass(300);
  await one.call.session.interrupt();
  await one.call.pass(300);
  const log = await one.call.log();
  assert.ok(log.includes('ended: interrupted'), log.join());
  assert.ok(one.call.client.heard.some((line) => line.startsWith('flush')));
});

test('a connection that is lost is opened again with the newest handle', async () => {
  await using one = await talk({
    turns: [
      { heard: 'Hello?', text: 'Hi.', close: { code: 1011 } },
      { heard: 'And?', text: 'Here.' },
    ],
  });
  await one.call.say(300);
  await one.call.pass(1_000);
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual(
    one.live.requests.map(({ handle }) => handle),
    [undefined, 'scripted:1'],
  );
  assert.deepEqual((await one.call.log()).slice(-2), ['model: Here.', 'ended: end_turn']);
});

test('a reply that is lost with its connection is asked for again, and what was heard of it is kept', async () => {
  await using one = await talk(
    {
      turns: [
        {
          heard: 'Hello?',
          text: 'One two three.',
          wordDelayMs: 100,
          close: { code: 1011, afterWords: 2 },
        },
        { text: 'Once more.' },
      ],
    },
    [],
    { sessionResumption: null },
  );
  await one.call.say(300);
  await one.call.pass(3_000);
  assert.deepEqual(await one.call.log(), [
    'turn.started',
    'user: Hello?',
    'model: One two',
    'model: Once more.',
    'ended: end_turn',
  ]);
});

test('before the server closes a connection, the next one is open', async () => {
  await using one = await talk({
    turns: [
      { heard: 'Hello?', text: 'Hi.', goAway: { timeLeftMs: 10_000 } },
      { heard: 'Still there?', text: 'Yes.' },
    ],
  });
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.equal(one.live.requests.length, 2);
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual((await one.call.log()).slice(-3), [
    'user: Still there?',
    'model: Yes.',
    'ended: end_turn',
  ]);
});

test('a model that stays silent is nudged, then asked over another connection', async () => {
  await using one = await talk({
    turns: [{ heard: 'Hello?', text: 'Hi.', delayMs: 60_000 }],
  });
  await one.call.say(300);
  await one.call.pass(3_500);
  assert.deepEqual(
    one.live.commands.map(({ kind }) => kind),
    ['nudge'],
  );
  assert.equal(one.live.requests.length, 1);
  await one.call.pass(4_000);
  assert.equal(one.live.requests.length, 2);
});

test('a call that a quota refuses ends with its reason in the log', async () => {
  const clock = new SimulatedClock(Date.UTC(2026, 0, 31, 12));
  const live = new ScriptedLive({ turns: [{ heard: 'Hello?', text: 'Hi.' }] }, { clock });
  const textModel = new ScriptedModel(() => ({ text: 'Hi.' }));
  const hub = new LiveHub();
  await using runtime = await openRuntime({
    agents: [liveAgent({ name: 'assistant', model: live, textModel })],
    clock,
    live: hub,
    quotas: { user: { tokensPerDay: 0 } },
  });
  const session = await runtime.session('demo');
  await hub.call(session, new SimulatedClient(clock));
  const errors: string[] = [];
  while (errors.length === 0) {
    await passTime(clock, 1_000);
    for await (const event of session.events(0, { follow: false }))
      if (event.type === 'error') errors.push(`${event.code}: ${event.message}`);
  }
  assert.equal(live.requests.length, 0);
  assert.deepEqual(errors, [
    'live_connection_lost: The live connection could not be opened again. The quota is used up: 0 of 0 tokens per day. It renews at 2026-02-01T00:00:00.000Z. Wait until then, or ask the operator to raise it. Begin the call again.',
  ]);
});

test('when no connection can be opened any more, the text model answers', async () => {
  await using one = await talk({
    turns: [{ heard: 'Hello?', text: 'Hi.', close: { code: 1011 } }],
    opens: ['accepted', ...Array.from({ length: 20 }, () => ({ error: 'server' as const }))],
  });
  await one.call.say(300);
  await one.call.pass(30_000);
  assert.ok((await one.call.log()).includes('error: live_connection_lost'));
  void one.call.session.send('Anybody?');
  await one.call.pass(200);
  assert.deepEqual((await one.call.log()).slice(-2), [
    'model: I have 3 messages.',
    'ended: end_turn',
  ]);
});

test('a reply ends when its client hangs up, and the next message is answered', async () => {
  await using one = await talk({
    turns: [{ heard: 'Talk.', text: 'One two three four five six.' }],
  });
  await one.call.say(300);
  await one.call.until(() => one.call.client.heard.length > 0);
  await one.call.hangUp();
  await one.call.pass(1_000);
  assert.equal((await one.call.log()).at(-1), 'ended: end_turn');
  void one.call.session.send('And now?');
  await one.call.pass(100);
  assert.deepEqual((await one.call.log()).slice(-2), [
    'model: I have 3 messages.',
    'ended: end_turn',
  ]);
});

test('a reply ends when another client takes the call over', async () => {
  await using one = await talk({
    turns: [
      { heard: 'Talk.', text: 'One two three four five six.' },
      { heard: 'And now?', text: 'Now this.' },
    ],
  });
  await one.call.say(300);
  await one.call.until(() => one.call.client.heard.length > 0);
  const second = await SimulatedCall.begin(one.hub, one.call.session, one.clock);
  await second.pass(1_000);
  assert.equal((await second.log()).at(-1), 'ended: end_turn');
  await second.say(300);
  await second.pass(1_000);
  assert.deepEqual((await second.log()).slice(-2), ['model: Now this.', 'ended: end_turn']);
});

test('audio of the client is converted to the sample rate of the model', async () => {
  const bytes: number[] = [];
  const to24 = (live: ScriptedLive): LiveModel => ({
    name: live.name,
    open: async (request, context) => {
      const connection = await live.open(request, context);
      return {
        ...connection,
        inputAudio: { encoding: 'pcm16', sampleRate: 24_000 },
        sendAudio: (pcm) => {
          bytes.push(pcm.byteLength);
          return connection.sendAudio(pcm);
        },
      };
    },
  });
  await using one = await talk({ turns: [] }, [], {}, {}, to24);
  const { client, session } = one.call;
  const call = await one.hub.call(session, Object.assign(client, { inputRate: 16_000 }));
  for (let at = 0; at < 50; at++) call.sendAudio(new Uint8Array(640));
  const total = bytes.reduce((sum, count) => sum + count, 0);
  assert.ok(Math.abs(total - 48_000) <= 4, `${total}`);
  await assert.rejects(one.hub.call(session, Object.assign(client, { inputRate: 44.1 })), {
    name: 'InvalidInputError',
    message: /inputRate.*44\.1/,
  });
});
