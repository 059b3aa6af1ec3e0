/** The cascaded mode with the official provider of the AI SDK, over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { contentText } from '../../../src/core/index.ts';
import {
  aiSdkSynthesizer,
  aiSdkTranscriber,
  cascadedLive,
  LiveHub,
  liveAgent,
} from '../../../src/live/index.ts';
import type { LiveClient, LiveModel } from '../../../src/live/index.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import { converse, speak } from './contract/live-harness.ts';
import { API_KEY, startOpenaiAudioServer } from './servers/openai-audio-server.ts';

function openaiLive(baseURL: string, answers: ScriptedModel, apiKey = API_KEY): LiveModel {
  const openai = createOpenAI({ baseURL, apiKey });
  return cascadedLive({
    model: answers,
    transcriber: aiSdkTranscriber(openai.transcription('gpt-4o-transcribe')),
    synthesizer: aiSdkSynthesizer(openai.speech('gpt-4o-mini-tts'), {
      voice: 'alloy',
      instructions: 'Speak slowly.',
    }),
  });
}

/** Speaks once with an agent. Returns what the log has of the turn, and the milliseconds of audio that were played. */
async function talkOnce(
  model: LiveModel,
): Promise<{ readonly said: readonly string[]; readonly playedMs: number }> {
  const hub = new LiveHub();
  await using runtime = await openRuntime({
    agents: [liveAgent({ name: 'assistant', model })],
    // It stands still: a slow machine is no silent model.
    clock: new SimulatedClock(),
    live: hub,
  });
  const session = await runtime.session('demo');
  let playedMs = 0;
  const client: LiveClient = {
    onAudio: ({ reply, toMs }) => {
      playedMs = toMs;
      call.played(reply, toMs);
    },
    onPause: () => {},
    onResume: () => {},
    onFlush: () => {},
  };
  const call = await hub.call(session, client);
  while (call.inputAudio === undefined) await turn();
  const frame = (loudness: number): Uint8Array =>
    new Uint8Array(new Int16Array(320).fill(loudness).buffer);
  for (let at = 0; at < 300; at += 20) call.sendAudio(frame(4_000));
  for (let at = 0; at < 1_200; at += 20) call.sendAudio(frame(0));
  const said: string[] = [];
  for await (const event of session.events(0)) {
    if (event.type === 'user.message') said.push(`user: ${contentText(event.content)}`);
    if (event.type === 'agent.message') said.push(contentText(event.content));
    if (event.type === 'error') said.push(`error: ${event.code}`);
    if (event.type === 'turn.ended') break;
  }
  await call.hangUp();
  return { said, playedMs };
}

test('OpenAI hears and speaks: a file in a form, and a WAV file without sizes', async () => {
  await using server = await startOpenaiAudioServer({ transcripts: ['How are you?'] });
  const { said, playedMs } = await talkOnce(
    openaiLive(server.url, new ScriptedModel([{ text: 'Very well. Thank you!' }])),
  );
  assert.deepEqual(said, ['user: How are you?', 'Very well. Thank you!']);
  const [heardMs = 0] = server.heardMs;
  assert.ok(heardMs >= 300 && heardMs < 1_300, `${heardMs}`);
  assert.equal(playedMs, 40);
  const how = { model: 'gpt-4o-mini-tts', voice: 'alloy', instructions: 'Speak slowly.' };
  assert.deepEqual(server.spoken, [
    { ...how, input: 'Very well. ' },
    { ...how, input: 'Thank you!' },
  ]);
});

test('an answer of 12,000 characters is spoken in parts that OpenAI accepts, and nothing of it is lost', async () => {
  await using server = await startOpenaiAudioServer({ transcripts: ['Tell me all.'] });
  const sentences = Array.from({ length: 200 }, (_, index) => `This is sentence ${index}. `);
  const text = [
    '\n\n',
    ...sentences,
    // No space and no point: parts begin between characters, and not inside of one.
    '🦊'.repeat(1_000),
    'word '.repeat(1_200),
    `${' '.repeat(300)}The end.\n\n`,
  ].join('');
  assert.ok(text.length > 12_000);
  const { said } = await talkOnce(openaiLive(server.url, new ScriptedModel([{ text }])));
  const spoken = server.spoken.map(({ input }) => input).join('');
  // A part of nothing but space is not sent.
  assert.equal(spoken.replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''));
  assert.deepEqual(said, ['user: Tell me all.', text]);
});

test('a refused key fails the reply, and is not shown', async () => {
  await using server = await startOpenaiAudioServer({ transcripts: [] });
  const live = openaiLive(server.url, new ScriptedModel([{ text: 'Hello.' }]), 'sk-wrong');
  const { connection, until, diagnostics } = await converse(live);
  speak(connection);
  const { error } = await until('done');
  assert.deepEqual(error, { code: 'speech_failed', message: 'Incorrect API key provided' });
  const [diagnostic] = diagnostics();
  assert.match(diagnostic?.message ?? '', /gpt-4o-transcribe.*Incorrect API key provided/);
  assert.doesNotMatch(JSON.stringify([error, diagnostic]), /sk-wrong/);
  await connection.close();
});
