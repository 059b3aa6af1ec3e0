import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import * as z from 'zod';
import { contentText } from '../../../src/core/index.ts';
import type { LogEvent } from '../../../src/core/index.ts';
import {
  aiSdkSynthesizer,
  aiSdkTranscriber,
  cascadedLive,
  LiveHub,
  liveAgent,
} from '../../../src/live/index.ts';
import type { LiveClient } from '../../../src/live/index.ts';
import { decodeWave, encodeWave } from '../../../src/live/models/cascaded/wave-file.ts';
import { takePieces } from '../../../src/live/models/cascaded/text-pieces.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import { tool } from '../../../src/tools/index.ts';
import { converse, joinSaid, sendAudio, speak } from './contract/live-harness.ts';
import { scriptedSynthesizer, scriptedTranscriber } from './scripted-speech.ts';

async function collect<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

const pcm = (samples: number, value = 1_000): Uint8Array =>
  new Uint8Array(new Int16Array(samples).fill(value).buffer);

test('an agent with a text model is spoken with: a tool, and a reply that is heard to its end', async () => {
  const hub = new LiveHub();
  const seen: string[] = [];
  const weather = tool({
    name: 'weather',
    description: 'Tells the weather.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => ({ sky: 'clear', city }),
  });
  const textModel = new ScriptedModel((request) => {
    seen.push(request.contents.map(({ role }) => role).join(' '));
    return request.contents.at(-1)?.role === 'tool'
      ? { text: 'It is clear in Rome. Enjoy the day!' }
      : { toolCalls: [{ name: 'weather', args: { city: 'Rome' } }] };
  });
  const model = cascadedLive({
    model: textModel,
    transcriber: scriptedTranscriber(['How is the weather in Rome?']),
    synthesizer: scriptedSynthesizer(),
  });
  await using runtime = await openRuntime({
    agents: [liveAgent({ name: 'assistant', model, textModel, tools: [weather] })],
    // It stands still: a slow machine is no silent model.
    clock: new SimulatedClock(),
    live: hub,
  });
  const session = await runtime.session('demo');
  const played: number[] = [];
  const client: LiveClient = {
    onAudio: ({ reply, toMs }) => {
      played.push(toMs);
      call.played(reply, toMs);
    },
    onPause: () => {},
    onResume: () => {},
    onFlush: () => {},
  };
  const call = await hub.call(session, client);
  while (call.inputAudio === undefined) await turn();
  call.sendAudio(pcm(4_800, 4_000));
  for (let frame = 0; frame < 60; frame++) call.sendAudio(pcm(320, 0));
  const log: LogEvent[] = [];
  for await (const event of session.events(0)) {
    log.push(event as LogEvent);
    if (event.type === 'turn.ended') break;
  }
  await call.hangUp();
  const said = log.flatMap((event) =>
    event.type === 'user.message' || event.type === 'agent.message'
      ? [contentText(event.content)]
      : [],
  );
  assert.deepEqual(
    said.filter((text) => text !== ''),
    ['How is the weather in Rome?', 'It is clear in Rome. Enjoy the day!'],
  );
  assert.deepEqual(seen, ['user', 'user model tool']);
  assert.equal(played.at(-1), 8 * 200);
});

test('what was said and not heard is not in the next request', async () => {
  const requests: string[][] = [];
  const model = new ScriptedModel(({ contents }) => {
    requests.push(contents.map((content) => `${content.role}: ${contentText(content)}`));
    return { text: 'one two three four five' };
  });
  const live = cascadedLive({
    model,
    transcriber: scriptedTranscriber(['Go on.']),
    synthesizer: scriptedSynthesizer(),
  });
  const { connection, until } = await converse(live);
  await connection.send({ kind: 'text', content: { role: 'user', parts: [{ text: 'Count.' }] } });
  const { reply } = await until('done');
  await connection.send({ kind: 'truncate', reply, playedMs: 450 });
  speak(connection);
  await until('done', 2);
  assert.deepEqual(requests[1], ['user: Count.', 'model: one two ', 'user: Go on.']);
  await connection.close();
});

test('speech has the audio before it was found; nothing understood is said so; a failure is not the end', async () => {
  const asked: string[] = [];
  const model = new ScriptedModel(({ contents }) => {
    asked.push(contentText(contents.at(-1) ?? { role: 'user', parts: [] }));
    return { text: 'Pardon?' };
  });
  const transcriber = scriptedTranscriber(['', 'Hello.']);
  let fails = true;
  const live = cascadedLive({
    model,
    transcriber: {
      ...transcriber,
      transcribe: async (audio, signal) => {
        const text = await transcriber.transcribe(audio, signal);
        if (asked.length === 2) throw new Error('no transcription today');
        return text;
      },
    },
    synthesizer: {
      name: 'speech',
      speak: async function* (text, signal) {
        if (asked.length === 2 && fails) throw new Error('hoarse');
        yield* scriptedSynthesizer().speak(text, signal);
      },
    },
  });
  const { connection, until, signals, diagnostics } = await converse(live);
  sendAudio(connection, 1_000, 0);
  speak(connection);
  await until('done');
  assert.deepEqual(asked, ['(inaudible)']);
  assert.ok(!signals().some(({ kind }) => kind === 'heard'));
  const [heardMs = 0] = transcriber.heardMs;
  assert.ok(heardMs >= 1_000 && heardMs <= 1_300, `${heardMs}: 300 + 300 + 600 ms`);
  speak(connection);
  const failed = await until('done', 2);
  assert.deepEqual(failed.error, { code: 'speech_failed', message: 'hoarse' });
  fails = false;
  speak(connection);
  const third = await until('done', 3);
  assert.equal(joinSaid(signals(), third.reply), 'Pardon?');
  assert.match(
    diagnostics()
      .map(({ message }) => message)
      .join(),
    /no transcription today/,
  );
  assert.deepEqual(asked, ['(inaudible)', 'Hello.', '(inaudible)']);
  await connection.close();
});

test('models of the AI SDK hear and speak: WAV in, WAV or PCM out, in any rate', async () => {
  const { signal } = new AbortController();
  const given: object[] = [];
  const transcriber = aiSdkTranscriber({
    modelId: 'ears',
    doGenerate: async ({ audio, mediaType }) => {
      const { format, pcm: heard } = decodeWave(Buffer.from(audio as Uint8Array));
      given.push({ mediaType, ...format, bytes: heard.byteLength });
      return { text: ' Hello. ' };
    },
  });
  const format = { encoding: 'pcm16', sampleRate: 16_000 } as const;
  assert.equal(await transcriber.transcribe({ pcm: pcm(160), format }, signal), 'Hello.');
  assert.deepEqual(given, [
    { mediaType: 'audio/wav', encoding: 'pcm16', sampleRate: 16_000, bytes: 320 },
  ]);

  const wave = encodeWave({ pcm: pcm(480), format: { encoding: 'pcm16', sampleRate: 48_000 } });
  for (const [audio, sampleRate, bytes] of [
    [wave, 48_000, 960],
    [Buffer.from(wave).toString('base64'), 48_000, 960],
    [pcm(240), 24_000, 480],
  ] as const) {
    const asked: object[] = [];
    const speech = aiSdkSynthesizer(
      {
        modelId: 'mouth',
        doGenerate: async ({ text, outputFormat, voice }) => {
          asked.push({ text, outputFormat, voice });
          return { audio };
        },
      },
      { voice: 'calm' },
    );
    const spoken = await collect(speech.speak('Hi.', signal));
    assert.deepEqual(
      spoken.map((one) => [one.format.sampleRate, one.pcm.byteLength]),
      [[sampleRate, bytes]],
    );
    assert.deepEqual(asked, [{ text: 'Hi.', outputFormat: 'wav', voice: 'calm' }]);
  }
  for (const compressed of ['ID3\u0004abcd', 'OggSabcd', 'fLaCabcd']) {
    const mp3 = aiSdkSynthesizer({
      modelId: 'mouth',
      doGenerate: async () => ({ audio: Buffer.from(compressed, 'latin1') }),
    });
    await assert.rejects(collect(mp3.speak('Hi.', signal)), /neither WAV nor PCM/);
  }
});

test('a WAV file is read with other chunks, two channels, and sizes of a stream; others are refused', () => {
  const wave = Buffer.from(
    encodeWave({ pcm: pcm(4, 7), format: { encoding: 'pcm16', sampleRate: 8_000 } }),
  );
  const list = Buffer.from('LIST\u0003\0\0\0abc\0', 'latin1');
  const withList = Buffer.concat([wave.subarray(0, 12), list, wave.subarray(12)]);
  assert.equal(decodeWave(withList).pcm.byteLength, 8);
  const streamed = Buffer.from(wave);
  streamed.writeUInt32LE(0xffffffff, 40);
  assert.equal(decodeWave(streamed).pcm.byteLength, 8);
  const stereo = Buffer.from(wave);
  stereo.writeUInt16LE(2, 22);
  assert.deepEqual([...decodeWave(stereo).pcm], [7, 0, 7, 0]);
  const wide = Buffer.from(wave);
  wide.writeUInt16LE(24, 34);
  for (const bad of [wide, Buffer.from('RIFF'), Buffer.alloc(0), wave.subarray(0, 30)])
    assert.throws(() => decodeWave(bad), { code: 'invalid_input', message: /WAV file of PCM/ });
});

test('text is cut into sentences to be spoken, and nothing is lost', () => {
  assert.deepEqual(takePieces('Hello. How are', false), { pieces: ['Hello. '], rest: 'How are' });
  assert.deepEqual(takePieces('It costs 3.', false), { pieces: [], rest: 'It costs 3.' });
  assert.deepEqual(takePieces('It costs 3.50 now', true).pieces, ['It costs 3.50 now']);
  const long = Array.from({ length: 80 }, (_, index) => `word${index}`).join(' ');
  const { pieces, rest } = takePieces(long, true);
  assert.equal(pieces.join('') + rest, long);
  assert.ok(pieces.length > 3 && pieces.every((piece) => piece.length <= 121));
  const noSpaces = takePieces('x'.repeat(500), true);
  assert.equal(noSpaces.pieces.join(''), 'x'.repeat(500));
});
