import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokensIn } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import type { LiveListener, LiveMedia, LiveModel, ScriptedLive } from '../../src/live/index.ts';
import { HeldTool } from './held-tool.ts';
import { talk } from './talk.ts';
import type { Talk } from './talk.ts';

const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'demo' };
const words = 'One two three four five six seven eight.';

async function countTokens({ store }: Talk, places: readonly string[]): Promise<readonly number[]> {
  const marking = await hydrate(store, KEY);
  return places.map((place) => tokensIn(marking, place).length);
}

/** A model whose connections a test can break: it keeps the listener of each. */
function tap(live: ScriptedLive, listeners: LiveListener[]): LiveModel {
  return {
    name: live.name,
    open: async (request, context) => {
      listeners.push(context.listener);
      return live.open(request, context);
    },
  };
}

/** Has the model speak, and stops it after a part. */
async function speak(one: Talk): Promise<void> {
  await one.call.say(300);
  await one.call.until(() => one.call.client.heard.length > 0);
  await one.call.pass(500);
}

test('an interrupt during a reply keeps what was heard, and the turn ends with it', async () => {
  await using one = await talk({ turns: [{ heard: 'Talk.', text: words }, { text: 'Later.' }] });
  await speak(one);
  void one.call.session.interrupt();
  await one.call.pass(300);
  const log = await one.call.log();
  assert.match(log.at(-2) ?? '', /^model: One two( three( four)?)?$/);
  assert.equal(log.at(-1), 'ended: interrupted');
  assert.ok(one.call.client.heard.some((line) => line.startsWith('flush')));
  assert.ok(one.live.commands.some(({ kind }) => kind === 'truncate'));
  void one.call.session.send('And now?');
  await one.call.pass(1_000);
  assert.deepEqual((await one.call.log()).slice(-2), ['model: Later.', 'ended: end_turn']);
});

test('the client pauses before the signal of the edge of speech returns', async () => {
  const listeners: LiveListener[] = [];
  await using one = await talk({ turns: [{ heard: 'Talk.', text: words }] }, [], {}, {}, (live) =>
    tap(live, listeners),
  );
  await speak(one);
  const { heard } = one.call.client;
  listeners.at(-1)?.onSignal({ kind: 'voice', edge: 'started' });
  assert.match(heard.at(-1) ?? '', /^pause at /);
});

test('an archive during a reply keeps what was heard, and leaves no connection and no open speech', async () => {
  await using one = await talk({ turns: [{ heard: 'Talk.', text: words }] });
  await speak(one);
  const archived = one.call.session.archive();
  await one.call.pass(1_000);
  await archived;
  const log = await one.call.log();
  assert.match(log.at(-3) ?? '', /^model: One two( three( four)?)?$/);
  assert.deepEqual(log.slice(-2), ['ended: interrupted', 'session.archived']);
  const places = ['link.up', 'model.active', 'reply.cut', 'voice.open'];
  assert.deepEqual(await countTokens(one, places), [0, 0, 0, 0]);
});

test('an interrupt keeps what was certainly heard if the client does not report', async () => {
  await using one = await talk(
    { turns: [{ heard: 'Talk.', text: words, wordDelayMs: 200 }] },
    [],
    {},
    { windowMs: 200 },
  );
  one.call.client.reportsStops = false;
  await speak(one);
  void one.call.session.interrupt();
  await one.call.pass(1_000);
  assert.match((await one.call.log()).at(-2) ?? '', /^model: One( two( three)?)?$/);
});

for (const end of ['hangUp', 'archive'] as const)
  test(`${end} while the user speaks leaves no open speech, and the next call begins a new one`, async () => {
    await using one = await talk({
      turns: [
        { heard: 'Hello?', text: 'Hi.' },
        { heard: 'Hello?', text: 'Hi.' },
      ],
    });
    await one.call.speak(300);
    assert.deepEqual(await countTokens(one, ['voice.open']), [1]);
    const ended = end === 'hangUp' ? one.call.hangUp() : one.call.session.archive();
    await one.call.pass(500);
    await ended;
    assert.deepEqual(await countTokens(one, ['voice.open', 'link.up']), [0, 0]);
  });

test('speech whose connection is lost begins no turn, and speech on the next one does', async () => {
  const lines: LiveListener[] = [];
  const heard = { heard: 'Hello?', text: 'Hi.' };
  await using one = await talk({ turns: [heard, heard] }, [], {}, {}, (live) => tap(live, lines));
  await one.call.speak(300);
  assert.deepEqual(await countTokens(one, ['voice.open']), [1]);
  lines[0]?.onSignal({ kind: 'closed', reason: 'lost', retryable: true });
  await one.call.pass(500);
  assert.deepEqual(await countTokens(one, ['voice.open', 'link.up']), [0, 1]);
  assert.deepEqual(await one.call.log(), []);
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual((await one.call.log()).slice(-3), [
    'user: Hello?',
    'model: Hi.',
    'ended: end_turn',
  ]);
});

test('calls are made although their connection is lost at the same moment, and the next one gets the results', async () => {
  const held = new HeldTool('find');
  await using one = await talk(
    {
      turns: [
        {
          heard: 'Find it.',
          text: words,
          toolCalls: [{ id: 'c1', name: 'find' }],
          close: { code: 1011 },
        },
        { text: 'Found.' },
      ],
    },
    [held.tool],
    {},
    { windowMs: 200 },
  );
  await one.call.say(300);
  await one.call.pass(3_000);
  assert.equal(held.began, 1);
  held.give();
  await one.call.pass(3_000);
  assert.deepEqual((await one.call.log()).slice(1), [
    'user: Find it.',
    `model: ${words}`,
    'tool.call',
    'tool: ok',
    'model: Found.',
    'ended: end_turn',
  ]);
  assert.equal(one.live.requests.length, 2);
});

test('a call whose reply waits for the end of earlier audio is made, although the connection is lost', async () => {
  const held = new HeldTool('find');
  await using one = await talk(
    {
      turns: [
        { heard: 'Find it.', text: words, toolCalls: [{ id: 'c1', name: 'find' }] },
        { toolCalls: [{ id: 'c2', name: 'find' }], close: { code: 1011 } },
        { text: 'Found.' },
        { text: 'Too much.' },
      ],
    },
    [held.tool],
    {},
    { windowMs: 800 },
  );
  await one.call.say(300);
  await one.call.until(() => held.began === 1);
  held.give();
  await one.call.until(() => held.began === 2);
  held.give();
  await one.call.pass(3_000);
  assert.deepEqual((await one.call.log()).slice(-6), [
    'tool: ok',
    'model: ',
    'tool.call',
    'tool: ok',
    'model: Found.',
    'ended: end_turn',
  ]);
});

test('a connection that is lost while the next one opens is replaced', async () => {
  const lines: LiveListener[] = [];
  await using one = await talk(
    { turns: [{ heard: 'Hello?', text: 'Hi.' }], opens: ['accepted', { error: 'server' }] },
    [],
    {},
    {},
    (live) => tap(live, lines),
  );
  lines[0]?.onSignal({ kind: 'go-away' });
  lines[0]?.onSignal({ kind: 'closed', reason: 'go-away', retryable: true });
  await one.call.pass(3_000);
  assert.deepEqual(
    await countTokens(one, ['link.up', 'link.down', 'link.wanted', 'link.rotating']),
    [1, 0, 0, 0],
  );
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual((await one.call.log()).slice(-2), ['model: Hi.', 'ended: end_turn']);
});

test('a client that calls again gets a connection at once, and as many attempts as the first', async () => {
  const lines: LiveListener[] = [];
  const refused = Array.from({ length: 4 }, () => ({ error: 'server' as const }));
  const opens = ['accepted' as const, ...refused, ...refused];
  const turns = [{ heard: 'Hello?', text: 'Hi.' }];
  await using one = await talk({ turns, opens }, [], {}, {}, (live) => tap(live, lines));
  lines[0]?.onSignal({ kind: 'closed', reason: 'lost', retryable: true });
  // The next attempt is seconds away.
  await one.call.until(() => one.live.requests.length >= 5);
  const at = one.clock.now();
  const opened = one.call.until(() => one.live.requests.length > 5);
  await one.hub.call(one.call.session, one.call.client);
  await opened;
  assert.ok(one.clock.now() - at < 100, `${one.clock.now() - at} ms`);
  await one.call.until(() => one.live.requests.length >= 10);
  await one.call.say(300);
  await one.call.until(async () => (await one.call.log()).includes('model: Hi.'));
  assert.ok(!(await one.call.log()).includes('error: live_connection_lost'));
});

test('a connection that is lost before it is open is opened again', async () => {
  const lines: LiveListener[] = [];
  const isLost = (live: ScriptedLive): LiveModel => {
    const tapped = tap(live, lines);
    return {
      name: live.name,
      open: async (request, context) => {
        const connection = await tapped.open(request, context);
        if (lines.length === 1)
          context.listener.onSignal({ kind: 'closed', reason: 'lost', retryable: true });
        return connection;
      },
    };
  };
  await using one = await talk({ turns: [{ heard: 'Hello?', text: 'Hi.' }] }, [], {}, {}, isLost);
  await one.call.pass(1_000);
  assert.equal(lines.length, 2);
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual((await one.call.log()).slice(-2), ['model: Hi.', 'ended: end_turn']);
});

test('a client that reports nothing holds two windows of audio, and an interrupt ends the reply', async () => {
  const text = Array.from({ length: 100 }, (_, index) => `word${index}`).join(' ');
  await using one = await talk({ turns: [{ heard: 'Talk.', text }] }, [], {}, { windowMs: 400 });
  const frames: number[] = [];
  Object.assign(one.call.client, { onAudio: ({ toMs }: LiveMedia) => frames.push(toMs) });
  await one.call.say(300);
  await one.call.pass(60_000);
  assert.equal(frames.at(-1), 800);
  void one.call.session.interrupt();
  await one.call.pass(500);
  assert.deepEqual((await one.call.log()).slice(-1), ['ended: interrupted']);
  assert.deepEqual(await countTokens(one, ['play.window', 'model.active']), [2, 0]);
});

for (const needsApproval of [false, true])
  for (const how of ['interrupt', 'archive', 'pause'] as const)
    test(`${how} ${needsApproval ? 'while an approval is awaited' : 'during a tool'}`, async () => {
      const held = new HeldTool('find', needsApproval);
      const calls = [{ id: 'c1', name: 'find' }];
      await using one = await talk(
        { turns: [{ heard: 'Find it.', toolCalls: calls }, { text: 'Found.' }] },
        [held.tool],
      );
      await one.call.say(300);
      await one.call.pass(500);
      const done = one.call.session[how]();
      await one.call.pass(500);
      await done;
      if (how === 'pause') {
        if (needsApproval)
          void one.call.session.approve((await one.call.session.pending())[0]?.callId ?? '');
        else held.give();
        await one.call.pass(500);
        assert.ok(!(await one.call.log()).includes('model: Found.'));
        void one.call.session.resume();
        await one.call.pass(500);
        held.give();
        await one.call.pass(1_000);
        assert.deepEqual((await one.call.log()).slice(-2), ['model: Found.', 'ended: end_turn']);
        assert.equal(held.began, 1);
        return;
      }
      const end =
        how === 'archive' ? ['ended: interrupted', 'session.archived'] : ['ended: interrupted'];
      assert.deepEqual((await one.call.log()).slice(-end.length), end);
      assert.deepEqual(await one.call.session.pending(), []);
      const places = ['tool.batch', 'tool.call', 'tool.parked', 'reply.awaited', 'model.active'];
      assert.deepEqual(await countTokens(one, places), [0, 0, 0, 0, 0]);
      assert.equal((await countTokens(one, ['link.up']))[0], how === 'archive' ? 0 : 1);
    });

test('a report that the last reply was interrupted does not cut the next one', async () => {
  const lines: LiveListener[] = [];
  const turns = [{ heard: 'Talk.', text: words }];
  await using one = await talk({ turns }, [], {}, {}, (live) => tap(live, lines));
  await speak(one);
  const [line] = lines;
  assert.ok(line !== undefined);
  const end = { kind: 'done', finishReason: 'stop' } as const;
  line.onSignal({ kind: 'voice', edge: 'started' });
  // The edge cuts the reply, and the client reports what it has played, before the model reports the rest at once.
  await one.call.pass(0);
  line.onSignal({ kind: 'interrupted', reply: 'r1' });
  line.onSignal({ ...end, reply: 'r1', interrupted: true });
  line.onSignal({ kind: 'voice', edge: 'stopped' });
  line.onSignal({ kind: 'begun', reply: 'r2' });
  line.onPartial?.({ kind: 'said', reply: 'r2', text: 'All right.', form: 'text' });
  line.onSignal({ ...end, reply: 'r2', interrupted: false });
  await one.call.pass(2_000);
  assert.deepEqual((await one.call.log()).slice(-2), ['model: All right.', 'ended: end_turn']);
  assert.deepEqual(await countTokens(one, ['reply.interrupted', 'model.active']), [0, 0]);
});
