/**
 * The official clients of both live protocols, against the scripted servers that `test/live/` tests
 * our models with: a server that these clients accept speaks the protocol.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { LiveScript } from '../../src/live/models/scripted/scripted-live-turn.ts';
import { systemClock } from '../../src/net/index.ts';
import { openGeminiServer } from '../live/models/servers/gemini-server.ts';
import { openRealtimeServer } from '../live/models/servers/realtime-server.ts';
import type { WireServer } from '../live/models/servers/wire-server.ts';

// The packages are installed in this folder only, so their names are not written as imports.
const GENAI = '@google/genai';
const OPENAI = 'openai';
const OPENAI_WS = 'openai/realtime/ws';

const key = 'test-key-123456';
const model = 'live-model';
const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
};

/** It is said for a minute: the interruption comes before its end, also on a busy machine. */
const LONG = Array.from({ length: 3000 }, () => 'on').join(' ');

type Message = Readonly<Record<string, any>>; // oxlint-disable-line typescript/no-explicit-any -- the messages of the clients are read as they come

/** Messages as they come, and a way to wait for one. */
class Inbox {
  readonly messages: Message[] = [];
  readonly #waiting = new Set<() => void>();

  readonly push = (message: Message): void => {
    this.messages.push(message);
    for (const check of this.#waiting) check();
  };

  async until(accepts: (message: Message) => boolean): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const check = (): void => {
      const found = this.messages.find(accepts);
      if (found !== undefined) resolve(found);
    };
    this.#waiting.add(check);
    check();
    return promise;
  }
}

function pcm(sampleRate: number, durationMs: number, loudness: number): string {
  const samples = new Int16Array((sampleRate * durationMs) / 1000).fill(loudness);
  return Buffer.from(samples.buffer).toString('base64');
}

describe('@google/genai and the scripted Gemini Live server', () => {
  const script: LiveScript = {
    turns: [
      {
        heard: 'How is the weather?',
        toolCalls: [{ id: 'c1', name: 'weather', args: { city: 'Rome' } }],
      },
      {
        thinking: 'Clear sky.',
        text: 'It is sunny.',
        usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 },
      },
      { text: LONG, wordDelayMs: 20 },
      { text: 'Bye.', goAway: { timeLeftMs: 5_000 } },
      { text: 'Back.' },
    ],
  };
  let server: WireServer;
  before(async () => (server = await openGeminiServer({ script, clock: systemClock, key, model })));
  after(async () => server.close());

  const openSession = async (inbox: Inbox, config: object, apiKey = key, name = model) => {
    const { GoogleGenAI } = (await import(GENAI)) as {
      GoogleGenAI: new (options: object) => Message;
    };
    const client = new GoogleGenAI({
      apiKey,
      httpOptions: { baseUrl: `http://127.0.0.1:${server.port}`, apiVersion: 'v1beta' },
    });
    return (await client['live'].connect({
      model: name,
      config,
      callbacks: {
        onmessage: inbox.push,
        onclose: (event: Message) =>
          inbox.push({ closed: { code: event['code'], reason: event['reason'] } }),
      },
    })) as Message;
  };

  it('talks, calls, is interrupted, goes away and resumes', async () => {
    const inbox = new Inbox();
    const config = {
      responseModalities: ['AUDIO'],
      systemInstruction: 'Be brief.',
      tools: [{ functionDeclarations: [weather] }],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Aoede' } } },
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      sessionResumption: {},
      contextWindowCompression: { triggerTokens: '9000', slidingWindow: { targetTokens: '4000' } },
      realtimeInputConfig: { automaticActivityDetection: { silenceDurationMs: 100 } },
    };
    const session = await openSession(inbox, config);
    const audio = (durationMs: number, loudness: number): void =>
      session['sendRealtimeInput']({
        audio: { data: pcm(16_000, durationMs, loudness), mimeType: 'audio/pcm;rate=16000' },
      });
    audio(300, 4_000);
    audio(200, 0);
    const called = await inbox.until(({ toolCall }) => toolCall !== undefined);
    assert.deepEqual(called['toolCall'].functionCalls, [
      { id: 'c1', name: 'weather', args: { city: 'Rome' } },
    ]);
    const heard = inbox.messages
      .map(({ serverContent }) => serverContent?.inputTranscription?.text ?? '')
      .join('');
    assert.equal(heard, 'How is the weather?');
    session['sendToolResponse']({
      functionResponses: [{ id: 'c1', name: 'weather', response: { output: 'sunny' } }],
    });
    const ended = await inbox.until(({ serverContent }) => serverContent?.turnComplete === true);
    assert.equal(ended['usageMetadata'].totalTokenCount, 12);
    const said = inbox.messages
      .map(({ serverContent }) => serverContent?.outputTranscription?.text ?? '')
      .join('');
    assert.equal(said, 'It is sunny.');
    const parts = inbox.messages.flatMap(
      ({ serverContent }) => serverContent?.modelTurn?.parts ?? [],
    );
    const bytes = parts.reduce(
      (sum, { inlineData }) => sum + Buffer.from(inlineData?.data ?? '', 'base64').length,
      0,
    );
    assert.equal(bytes, 3 * 9_600);

    session['sendRealtimeInput']({ text: 'Go on.' });
    await inbox.until(
      ({ serverContent }) =>
        serverContent?.outputTranscription?.text.includes('on') && inbox.messages.length > 0,
    );
    audio(100, 4_000);
    await inbox.until(({ serverContent }) => serverContent?.interrupted === true);
    session['sendClientContent']({
      turns: [{ role: 'user', parts: [{ text: 'Bye' }] }],
      turnComplete: true,
    });
    const away = await inbox.until(({ goAway }) => goAway !== undefined);
    assert.equal(away['goAway'].timeLeft, '5s');
    const handles = inbox.messages
      .map(({ sessionResumptionUpdate }) => sessionResumptionUpdate)
      .filter((update) => update?.resumable === true);
    session['close']();

    const resumedInbox = new Inbox();
    const handle = handles.at(-1)?.newHandle as string;
    const resumed = await openSession(resumedInbox, { ...config, sessionResumption: { handle } });
    resumed['sendRealtimeInput']({ text: 'Hello again.' });
    await resumedInbox.until(
      ({ serverContent }) => serverContent?.outputTranscription?.text === 'Back.',
    );
    resumed['close']();
  });

  it('is closed for a wrong key, and for an unknown model', async () => {
    for (const [apiKey, name, code, reason] of [
      ['wrong-key-9', model, 1007, /API key not valid/],
      [key, 'no-model', 1008, /is not found for API version v1beta/],
    ] as const) {
      const inbox = new Inbox();
      // The client waits for setupComplete forever, so its promise is not awaited.
      void openSession(inbox, {}, apiKey, name).catch(() => undefined);
      const { closed } = await inbox.until((message) => message['closed'] !== undefined);
      assert.equal(closed.code, code);
      assert.match(closed.reason, reason);
    }
  });
});

describe("OpenAI's client and the scripted Realtime server", () => {
  const script: LiveScript = {
    turns: [
      {
        heard: 'How is the weather?',
        toolCalls: [{ id: 'call_1', name: 'weather', args: { city: 'Rome' } }],
      },
      { text: 'It is sunny.', usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 } },
      { text: LONG, wordDelayMs: 20 },
      { text: 'So', finishReason: 'max_tokens' },
    ],
  };
  let server: WireServer;
  before(
    async () => (server = await openRealtimeServer({ script, clock: systemClock, key, model })),
  );
  after(async () => server.close());

  const openSession = async (inbox: Inbox, apiKey = key): Promise<Message> => {
    const { OpenAI } = (await import(OPENAI)) as { OpenAI: new (options: object) => object };
    const { OpenAIRealtimeWS } = (await import(OPENAI_WS)) as {
      OpenAIRealtimeWS: new (props: object, client: object) => Message;
    };
    const client = new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${server.port}/v1` });
    // The client always asks for TLS. Its socket is replaced by a plain one.
    const createConnection = (): Socket => connect(server.port, '127.0.0.1');
    const session = new OpenAIRealtimeWS({ model, options: { createConnection } }, client);
    session['on']('event', inbox.push);
    session['on']('error', (error: Message) =>
      inbox.push({ type: 'client.error', message: error['message'] }),
    );
    return session;
  };

  it('talks, calls, is interrupted, and truncates', async () => {
    const inbox = new Inbox();
    const session = await openSession(inbox);
    const send = (message: object): void => session['send'](message);
    await inbox.until(({ type }) => type === 'session.created');
    send({
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'Be brief.',
        output_modalities: ['audio'],
        tools: [{ type: 'function', ...weather }],
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model: 'whisper-1' },
            turn_detection: { type: 'server_vad', silence_duration_ms: 100 },
          },
          output: { voice: 'marin' },
        },
      },
    });
    const updated = await inbox.until(({ type }) => type === 'session.updated');
    assert.equal(updated['session'].audio.output.voice, 'marin');
    assert.equal(updated['session'].audio.output.format.rate, 24_000, 'the full configuration');
    send({ type: 'input_audio_buffer.append', audio: pcm(24_000, 300, 4_000) });
    send({ type: 'input_audio_buffer.append', audio: pcm(24_000, 200, 0) });
    const called = await inbox.until(({ type }) => type === 'response.done');
    const [call] = called['response'].output;
    assert.deepEqual(
      [call.type, call.call_id, call.arguments],
      ['function_call', 'call_1', '{"city":"Rome"}'],
    );
    const types = inbox.messages.map(({ type }) => type);
    for (const type of [
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.input_audio_transcription.completed',
      'response.function_call_arguments.done',
    ]) {
      assert.ok(types.includes(type), type);
    }
    send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_1', output: '{}' },
    });
    send({ type: 'response.create' });
    const done = await inbox.until(
      ({ type, response }) => type === 'response.done' && response.output[0].type === 'message',
    );
    assert.equal(done['response'].output[0].content[0].transcript, 'It is sunny.');
    assert.equal(done['response'].usage.total_tokens, 12);

    const first = inbox.messages.length;
    send({ type: 'response.create' });
    const delta = await inbox.until(
      (message) =>
        inbox.messages.indexOf(message) >= first &&
        message['type'] === 'response.output_audio.delta',
    );
    send({ type: 'input_audio_buffer.append', audio: pcm(24_000, 100, 4_000) });
    const canceled = await inbox.until(
      ({ type, response }) => type === 'response.done' && response.status === 'cancelled',
    );
    assert.equal(canceled['response'].status_details.reason, 'turn_detected');
    send({
      type: 'conversation.item.truncate',
      item_id: delta['item_id'],
      content_index: 0,
      audio_end_ms: 100,
    });
    await inbox.until(({ type }) => type === 'conversation.item.truncated');
    send({
      type: 'conversation.item.truncate',
      item_id: delta['item_id'],
      content_index: 0,
      audio_end_ms: 999_999,
    });
    send({ type: 'response.cancel' });
    const errors = ['invalid_value', 'response_cancel_not_active'];
    for (const code of errors)
      await inbox.until(({ type, error }) => type === 'error' && error.code === code);
    send({ type: 'response.create' });
    const cut = await inbox.until(
      ({ type, response }) => type === 'response.done' && response.status === 'incomplete',
    );
    assert.equal(cut['response'].status_details.reason, 'max_output_tokens');
    session['close']();
  });

  it('gets 401 for a wrong key', async () => {
    const inbox = new Inbox();
    await openSession(inbox, 'wrong-key-9');
    const { message } = await inbox.until(({ type }) => type === 'client.error');
    assert.match(message, /401/);
  });
});
