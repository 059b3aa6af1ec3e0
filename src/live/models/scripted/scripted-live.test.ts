import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../../net/index.ts';
import { userContent } from '../../../core/index.ts';
import { audioByteLength } from '../audio-format.ts';
import { LiveConnectionClosedError, LiveHandleExpiredError } from '../live-errors.ts';
import type { LiveConnection, LiveListener, LiveMedia, LiveOpenRequest } from '../live-model.ts';
import type { LiveSignal } from '../live-signal.ts';
import { ScriptedLive } from './scripted-live.ts';
import type { LiveScript } from './scripted-live-turn.ts';

interface Session {
  readonly clock: SimulatedClock;
  readonly connection: LiveConnection;
  readonly signals: LiveSignal[];
  readonly media: LiveMedia[];
}

async function openScripted(script: LiveScript, request: LiveOpenRequest = {}): Promise<Session> {
  const clock = new SimulatedClock();
  const signals: LiveSignal[] = [];
  const media: LiveMedia[] = [];
  const listener: LiveListener = {
    onSignal: (signal) => signals.push(signal),
    onMedia: (frame) => media.push(frame),
  };
  const model = new ScriptedLive(script, { clock });
  const { signal } = new AbortController();
  const connection = await model.open(request, { signal, listener });
  return { clock, connection, signals, media };
}

/** 20 ms frames of speech or silence. */
function sendAudio({ connection }: Session, durationMs: number, loudness: number): void {
  for (let at = 0; at < durationMs; at += 20) {
    const frame = new Int16Array(audioByteLength(connection.inputAudio, 20) / 2).fill(loudness);
    assert.ok(connection.sendAudio(new Uint8Array(frame.buffer)));
  }
}

test('speech and silence make an utterance, and the scripted reply follows as audio and transcript', async () => {
  const session = await openScripted({ turns: [{ heard: 'Hello?', text: 'Hi there.' }] });
  sendAudio(session, 300, 4_000);
  sendAudio(session, 200, 0);
  assert.deepEqual(session.signals, [], 'nothing happens before the clock moves');
  session.clock.advance(0);
  assert.deepEqual(session.signals, [
    { kind: 'voice', edge: 'started', atMs: 0 },
    { kind: 'voice', edge: 'stopped', atMs: 400 },
    { kind: 'heard', text: 'Hello?' },
    { kind: 'begun', reply: 'r1' },
    { kind: 'said', reply: 'r1', text: 'Hi there.', form: 'audio' },
    { kind: 'done', reply: 'r1', finishReason: 'stop', interrupted: false },
    { kind: 'handle', handle: 'scripted:1' },
  ]);
  assert.deepEqual(
    session.media.map(({ reply, fromMs, toMs }) => [reply, fromMs, toMs]),
    [
      ['r1', 0, 200],
      ['r1', 200, 400],
    ],
  );
});

test('speech during a reply interrupts it, and the words so far are what was said', async () => {
  const session = await openScripted({ turns: [{ text: 'One two three', wordDelayMs: 50 }] });
  await session.connection.send({ kind: 'respond' });
  session.clock.advance(60);
  sendAudio(session, 20, 4_000);
  session.clock.advance(1_000);
  assert.deepEqual(session.signals, [
    { kind: 'begun', reply: 'r1' },
    { kind: 'voice', edge: 'started', atMs: 0 },
    { kind: 'said', reply: 'r1', text: 'One two', form: 'audio' },
    { kind: 'interrupted', reply: 'r1' },
    { kind: 'done', reply: 'r1', finishReason: 'stop', interrupted: true },
    { kind: 'handle', handle: 'scripted:1' },
  ]);
  assert.equal(session.media.length, 2);
});

test('a handle continues the script, and so does a history; an unknown handle has expired', async () => {
  const script = { turns: [{ text: 'One' }, { text: 'Two' }] };
  const history = [userContent('Go'), { role: 'model', parts: [{ text: 'One' }] } as const];
  for (const request of [{ handle: 'scripted:1' }, { history }]) {
    const session = await openScripted(script, request);
    await session.connection.send({ kind: 'respond' });
    session.clock.advance(0);
    const texts = session.signals.flatMap((signal) => (signal.kind === 'said' ? signal.text : []));
    assert.deepEqual(texts, ['Two']);
  }
  await assert.rejects(openScripted(script, { handle: 'other' }), LiveHandleExpiredError);
});

test('calls end a reply, are canceled after their time, and a canceled call takes no result', async () => {
  const toolCalls = [
    { id: 'a', name: 'weather', args: { city: 'Rome' } },
    { id: 'b', name: 'clock' },
  ];
  const session = await openScripted({
    turns: [{ toolCalls, cancelCallsAfterMs: 100 }, { text: 'Noon.' }],
  });
  await session.connection.send({ kind: 'text', content: userContent('When?') });
  session.clock.advance(50);
  const result = (callId: string) =>
    ({ kind: 'tool-result', results: [{ callId, name: 'x', response: {} }] }) as const;
  await session.connection.send(result('a'));
  session.clock.advance(100);
  await session.connection.send(result('b'));
  session.clock.advance(0);
  assert.deepEqual(
    session.signals.filter(({ kind }) => kind !== 'handle'),
    [
      { kind: 'begun', reply: 'r1' },
      {
        kind: 'call',
        reply: 'r1',
        calls: [
          { id: 'a', name: 'weather', args: { city: 'Rome' } },
          { id: 'b', name: 'clock', args: {} },
        ],
      },
      { kind: 'done', reply: 'r1', finishReason: 'tool_calls', interrupted: false },
      { kind: 'call-canceled', callIds: ['b'] },
    ],
  );
});

test('the script closes connections and refuses to open them', async () => {
  const script: LiveScript = {
    turns: [{ text: 'One two', close: { code: 1011, reason: 'overload', afterWords: 1 } }],
    opens: ['accepted'],
  };
  const session = await openScripted(script);
  await session.connection.send({ kind: 'respond' });
  session.clock.advance(0);
  assert.deepEqual(session.signals.at(-1), {
    kind: 'closed',
    reason: 'lost',
    retryable: true,
    code: 1011,
    message: 'overload',
  });
  assert.equal(session.connection.sendAudio(new Uint8Array(2)), false);
  await assert.rejects(session.connection.send({ kind: 'cut' }), LiveConnectionClosedError);
  await session.connection.close();
  const refused = openScripted({ turns: [], opens: [{ error: 'auth' }] });
  await assert.rejects(refused, { code: 'model_auth' });
});
