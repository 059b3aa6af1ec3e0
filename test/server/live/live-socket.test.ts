import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../src/agents/index.ts';
import { LiveHub } from '../../../src/live/index.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import { SocketPlayer } from './socket-player.ts';
import { SocketServer, SocketTalk } from './socket-talk.ts';

const words = Array.from({ length: 60 }, (_, index) => `w${index}`);
/** 12 seconds of audio. */
const long = { heard: 'Tell me.', text: words.join(' ') };

/** The close code of a player, which changes while something is awaited. */
const closeCode = (player: SocketPlayer): number | undefined => player.closed?.code;

const ended = (talk: SocketTalk): (() => Promise<boolean>) => {
  return async () => (await talk.log()).some((line) => line.startsWith('ended'));
};

test('a spoken conversation over a socket: audio, captions, marks of playback, the log', async () => {
  await using talk = await SocketTalk.open({ turns: [{ heard: 'Hello?', text: 'Hi there.' }] });
  const { player } = talk;
  player.connect(talk.server.accept);
  await talk.say(300);
  await talk.until(ended(talk));
  assert.deepEqual(player.errors, []);
  assert.deepEqual(player.events.toSorted(), [
    'agent:  there.',
    'agent: Hi',
    'ready',
    'reply',
    'user: Hello?',
  ]);
  assert.equal(player.played.length, 4);
  assert.deepEqual(
    (await talk.log()).filter((line) => /^(user|model):/.test(line)),
    ['user: Hello?', 'model: Hi there.'],
  );
  player.send({ type: 'hang_up' });
  await talk.until(() => player.closed !== undefined);
  assert.deepEqual(player.closed, { code: 1000, reason: 'hang_up' });
  assert.equal(talk.server.openSockets, 0);
});

test('a client whose model cannot be reached is disconnected, and its next call is answered', async () => {
  const opens = Array.from({ length: 5 }, () => ({ error: 'server' as const }));
  await using talk = await SocketTalk.open({
    turns: [{ heard: 'Hello?', text: 'Hi there.' }],
    opens,
  });
  const { player } = talk;
  player.connect(talk.server.accept);
  await talk.until(async () => (await talk.log()).includes('error: live_connection_lost'));
  await talk.pass(30_000);
  await talk.until(() => player.closed !== undefined);
  assert.deepEqual(player.closed, { code: 4503, reason: 'live_connection_unavailable' });
  player.connect(talk.server.accept);
  await talk.say(300);
  await talk.until(ended(talk));
  assert.ok((await talk.log()).includes('model: Hi there.'));
});

test('speech interrupts a reply: playback pauses, is dropped, and the log has the words that were heard', async () => {
  await using talk = await SocketTalk.open({
    turns: [long, { heard: 'Stop.', text: 'Very well.' }],
  });
  const { player } = talk;
  player.connect(talk.server.accept);
  await talk.say(300);
  await talk.until(() => player.played.length === 10);
  await talk.say(300);
  await talk.until(
    async () => (await talk.log()).filter((l) => l.startsWith('ended')).length === 2,
  );
  assert.ok(player.events.includes('pause at 1000'), player.events.join());
  assert.ok(player.events.includes('flush at 1000'), player.events.join());
  const said = (await talk.log()).filter((line) => line.startsWith('model:'));
  assert.deepEqual(said, ['model: w0 w1 w2 w3 w4', 'model: Very well.']);
});

test('a client detects speech itself, unless the model does', async () => {
  for (const vad of ['client', 'server'] as const) {
    await using talk = await SocketTalk.open(
      { turns: [{ heard: 'Hello?', text: 'Hi.' }] },
      { agent: { vad } },
    );
    const { player } = talk;
    player.connect(talk.server.accept);
    await talk.until(() => player.ready !== undefined);
    await talk.pass(500);
    player.send({ type: 'speech_started' });
    await talk.pass(300);
    player.send({ type: 'speech_stopped' });
    await talk.pass(1_000);
    const turns = (await talk.log()).filter((line) => line === 'turn.started').length;
    assert.equal(turns, vad === 'client' ? 1 : 0, vad);
  }
});

test('after a lost socket the reply continues where the client was: no piece twice, none left out', async () => {
  await using talk = await SocketTalk.open({ turns: [long] });
  const { player } = talk;
  let socket = player.connect(talk.server.accept);
  await talk.say(300);
  for (const at of [7, 31, 80]) {
    await talk.until(() => player.played.length >= at);
    socket.break();
    await talk.pass(at === 31 ? 20_000 : 700);
    socket = player.connect(talk.server.accept);
    await talk.pass(20);
  }
  await talk.until(ended(talk));
  assert.equal(player.events.filter((event) => event === 'resumed').length, 3);
  const [reply] = player.played[0]?.split(' ') ?? [];
  assert.deepEqual(
    player.played,
    Array.from({ length: 120 }, (_, index) => `${reply} ${index * 100}`),
  );
  assert.ok((await talk.log()).includes(`model: ${long.text}`));
  assert.equal(talk.live.requests.length, 1, 'the connection to the model was kept');
});

test('a reply that was dropped while its client was away is not played any more', async () => {
  await using talk = await SocketTalk.open({ turns: [long] });
  const { player } = talk;
  const socket = player.connect(talk.server.accept);
  await talk.say(300);
  await talk.until(() => player.played.length === 10);
  socket.break();
  await talk.session.interrupt();
  await talk.pass(1_000);
  const before = player.played.length;
  player.connect(talk.server.accept);
  await talk.pass(2_000);
  assert.ok(
    player.events.some((event) => event.startsWith('flush')),
    player.events.join(),
  );
  assert.equal(player.played.length, before);
});

test('a client that does not come back within 30 seconds has hung up; then it begins a new call', async () => {
  await using talk = await SocketTalk.open({ turns: [long] });
  const { player } = talk;
  // This one breaks before its answer, so its client does not know the call.
  player.connect(talk.server.accept).break();
  await talk.pass(100);
  const socket = player.connect(talk.server.accept);
  await talk.until(() => player.ready !== undefined);
  socket.break();
  await talk.pass(31_000);
  player.connect(talk.server.accept);
  await talk.pass(100);
  assert.deepEqual(player.events, ['ready', 'ready']);
  assert.equal(player.ready?.resumed, false);
});

test('a session has one client: a second one is refused, and may take over; the first is told', async () => {
  await using talk = await SocketTalk.open({ turns: [long] });
  const first = talk.player;
  first.connect(talk.server.accept);
  await talk.until(() => first.ready !== undefined);
  const second = new SocketPlayer(talk.clock);
  second.connect(talk.server.accept);
  await talk.until(() => second.closed !== undefined);
  assert.deepEqual(second.closed, { code: 4409, reason: 'live_session_busy' });
  second.connect(talk.server.accept, { resume: { call: 'guessed' } });
  await talk.until(() => second.closed !== undefined);
  assert.equal(second.closed?.code, 4409);
  second.connect(talk.server.accept, { take_over: true });
  await talk.until(() => second.ready !== undefined);
  assert.deepEqual(first.closed, { code: 4410, reason: 'live_call_replaced' });
  // The same client, whose old socket the server still believes in.
  const former = second.ready?.call;
  second.connect(talk.server.accept);
  await talk.until(() => second.events.includes('resumed'));
  assert.equal(second.ready?.call, former);
  await talk.say(300, second);
  await talk.until(() => second.played.length > 5);
  assert.equal(first.played.length, 0);
  assert.equal(talk.server.openSockets, 1);
});

test('a client that plays nothing gets two windows of audio and no more', async () => {
  await using talk = await SocketTalk.open(
    { turns: [{ heard: 'Tell me.', text: Array.from({ length: 300 }, () => 'w').join(' ') }] },
    { hubOptions: { windowMs: 2_000 } },
  );
  const { player } = talk;
  player.reports = false;
  player.connect(talk.server.accept);
  await talk.say(300);
  await talk.pass(20_000);
  assert.equal(player.frames, 20, '200 ms each, of 60 s');
});

test('a slow client gets no captions; one that does not read at all is disconnected', async () => {
  const longer = { heard: 'Tell me.', text: [...words, ...words].join(' ') };
  await using talk = await SocketTalk.open({ turns: [longer] });
  const { player } = talk;
  const socket = player.connect(talk.server.accept);
  await talk.until(() => player.ready !== undefined);
  socket.bufferedAmount = 100_000;
  await talk.say(300);
  await talk.until(() => player.played.length > 5);
  assert.deepEqual(player.events, ['ready', 'reply']);
  socket.bufferedAmount = 9_000_000;
  await talk.until(() => player.closed !== undefined);
  assert.deepEqual(player.closed, { code: 1006, reason: '' });
});

test('a client without pongs, and one whose key was revoked, are disconnected', async () => {
  await using talk = await SocketTalk.open({ turns: [] });
  const { player, server } = talk;
  const socket = player.connect(server.accept);
  await talk.until(() => player.ready !== undefined);
  await talk.pass(35_000);
  assert.equal(player.closed, undefined);
  socket.answersPings = false;
  await talk.until(() => player.closed !== undefined);
  assert.equal(closeCode(player), 1006);
  player.connect(server.accept);
  await talk.pass(100);
  server.isKeyValid = false;
  await talk.until(() => player.closed !== undefined);
  assert.deepEqual(player.closed, { code: 4401, reason: 'authentication_error' });
});

test('what follows the first message at once is read after it', async () => {
  await using talk = await SocketTalk.open({ turns: [{ heard: 'Hello?', text: 'Hi.' }] });
  const { player } = talk;
  player.connect(talk.server.accept);
  const loud = new Uint8Array(new Int16Array(1_600).fill(4_000).buffer);
  player.sendAudio(loud);
  await talk.pass(20);
  player.sendAudio(new Uint8Array(6_400));
  await talk.until(() => player.played.length > 0);
  assert.deepEqual(player.errors, []);
});

test('a message that is not as documented ends the socket with what was wrong', async () => {
  await using talk = await SocketTalk.open({ turns: [] });
  const { server } = talk;
  const secret = `ptk_${'1'.repeat(16)}_${'2'.repeat(64)}`;
  const cases: readonly (readonly [string, number, RegExp, ...(object | string | Uint8Array)[]])[] =
    [
      ['no JSON', 4400, /message/, '{"type":'],
      ['a list', 4400, /message: must be an object/, '[]'],
      ['no type', 4400, /message\.type: must be one of hello, played/, {}],
      ['another type', 4400, /message\.type/, { type: 'toString' }],
      [
        'an unknown field',
        4400,
        /message\.api_key: is unknown.*`key`/,
        { type: 'hello', api_key: secret },
      ],
      [
        'a nested one',
        4400,
        /message\.resume\.Call/,
        { type: 'hello', resume: { call: 'a', Call: 1 } },
      ],
      [
        'a wrong rate',
        4400,
        /message\.input_rate: must be from 8000/,
        { type: 'hello', input_rate: 1 },
      ],
      ['no hello', 4400, /first message must be hello/, { type: 'hang_up' }],
      ['audio first', 4400, /first message must be hello/, new Uint8Array(2)],
      ['hello twice', 4400, /comes once/, { type: 'hello' }, { type: 'hello' }],
      ['odd audio', 4400, /it has 3 bytes/, { type: 'hello' }, new Uint8Array(3)],
      [
        'a wrong time',
        4400,
        /message\.played_ms/,
        { type: 'hello' },
        { type: 'played', reply: 'a', played_ms: -1 },
      ],
      ['no session', 4404, /There is no session|not found|does not exist/i, { type: 'hello' }],
    ];
  for (const [name, code, message, ...sent] of cases) {
    const session = name === 'no session' ? 'other' : 'demo';
    const raw = new SocketPlayer(talk.clock);
    const opened = raw.open((one) => server.accept(one, session));
    for (const one of sent)
      opened.receive(
        one instanceof Uint8Array || typeof one === 'string' ? one : JSON.stringify(one),
      );
    await talk.until(() => raw.closed !== undefined);
    assert.equal(raw.closed?.code, code, name);
    assert.match(JSON.stringify(raw.errors[0]), message, name);
    assert.ok(!JSON.stringify(raw.errors).includes(secret), name);
  }
});

test('a session whose agent has no live model is refused, and leaves no call behind', async () => {
  const clock = new SimulatedClock();
  const hub = new LiveHub();
  const model = new ScriptedModel(() => ({ text: 'Hi.' }));
  await using runtime = await openRuntime({
    agents: [agent({ name: 'writer', model })],
    clock,
    live: hub,
  });
  await runtime.session('demo');
  const server = await SocketServer.open(runtime, { hub, clock });
  for (const _ of [1, 2]) {
    const player = new SocketPlayer(clock);
    player.connect(server.accept);
    while (player.closed === undefined) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(player.closed, { code: 4400, reason: 'not_a_live_agent' });
  }
});

test('limits: time to the first message, calls of a key, audio, messages, edges of speech', async () => {
  await using talk = await SocketTalk.open({ turns: [] });
  const { server, clock } = talk;
  const silent = new SocketPlayer(clock);
  silent.open(server.accept);
  await talk.until(() => silent.closed !== undefined);
  assert.equal(silent.closed?.code, 4408);

  const open = async (id: string): Promise<SocketPlayer> => {
    await talk.runtime.session(id);
    const player = new SocketPlayer(clock);
    player.connect((socket) => server.accept(socket, id));
    await talk.until(() => player.ready !== undefined || player.closed !== undefined);
    return player;
  };
  const [one, two, three] = [await open('one'), await open('two'), await open('three')];
  assert.equal(one.closed ?? two.closed, undefined);
  assert.deepEqual(three.closed, { code: 4429, reason: 'too_many_live_calls' });

  // Ten seconds at once are what a client recorded without a connection. More is not.
  for (let second = 0; second < 10; second++) one.sendAudio(new Uint8Array(32_000));
  await talk.pass(20);
  assert.equal(one.closed, undefined);
  one.sendAudio(new Uint8Array(32_000));
  await talk.until(() => one.closed !== undefined);
  assert.equal(closeCode(one), 4429);
  assert.match(JSON.stringify(one.errors), /faster than real time/);

  for (let edge = 0; edge < 240; edge++) two.send({ type: 'speech_stopped' });
  assert.equal(two.closed, undefined);
  two.send({ type: 'speech_stopped' });
  await talk.until(() => two.closed !== undefined);
  assert.match(JSON.stringify(two.errors), /240 edges/);

  await talk.pass(31_000);
  const four = await open('four');
  const played = { type: 'played', reply: 'none', played_ms: 1 };
  for (let message = 0; message < 1_300; message++) four.send(played);
  await talk.until(() => four.closed !== undefined);
  assert.match(JSON.stringify(four.errors), /1200 messages/);
});

test('frames at random never end the server, and say what was wrong', async () => {
  await using talk = await SocketTalk.open({ turns: [{ heard: 'Hello?', text: 'Hi.' }] });
  const { server, clock } = talk;
  const random = mulberry32(7);
  const types = ['hello', 'played', 'stopped', 'speech_started', 'speech_stopped', 'hang_up', 'x'];
  const values = [0, -1, 1e308, null, true, 'a', '__proto__', 'x'.repeat(600), [], {}, [[]]];
  const names = ['reply', 'played_ms', 'input_rate', 'resume', 'key', 'take_over', 'constructor'];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let refused = 0;
  for (let round = 0; round < 300; round++) {
    const player = new SocketPlayer(clock);
    const socket = player.open(server.accept);
    if (random() < 0.6) socket.receive(JSON.stringify({ type: 'hello', take_over: true }));
    for (let frame = 0; frame < 5; frame++) {
      const bytes = Uint8Array.from({ length: Math.floor(random() * 40) }, () => random() * 256);
      const members = Object.fromEntries(
        Array.from({ length: Math.floor(random() * 4) }, () => [pick(names), pick(values)]),
      );
      const text = JSON.stringify({ type: pick(types), ...members });
      const cut = text.slice(0, Math.floor(random() * text.length));
      socket.receive(pick<string | Uint8Array>([bytes, text, text, cut]));
    }
    await talk.pass(20);
    if (player.closed !== undefined && player.closed.code >= 4000) refused++;
    socket.break();
  }
  assert.deepEqual(server.errors, []);
  assert.ok(refused > 200, `${refused}`);
  const player = new SocketPlayer(clock);
  player.connect(server.accept, { take_over: true });
  await talk.say(300, player);
  await talk.until(() => player.played.length > 0);
});

test('a server that closes says so, and keeps no call', async () => {
  await using talk = await SocketTalk.open({ turns: [] });
  const { player, server } = talk;
  player.connect(server.accept);
  await talk.until(() => player.ready !== undefined);
  server.close();
  await talk.until(() => player.closed !== undefined);
  assert.equal(player.closed?.code, 1001);
  assert.equal(server.openSockets, 0);
});

/** A generator of numbers that repeats itself. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
