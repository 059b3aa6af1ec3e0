import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { GeminiProtocol } from '../../../src/live/models/gemini/gemini-protocol.ts';
import type { LiveOpenRequest } from '../../../src/live/models/live-model.ts';
import { LiveReporter } from '../../../src/live/models/live-reporter.ts';
import { RealtimeProtocol } from '../../../src/live/models/openai/realtime-protocol.ts';
import {
  ProtocolViolation,
  type LiveProtocol,
  type ProtocolHost,
} from '../../../src/live/models/socket/live-protocol.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { assertLawful, type Conversation } from './contract/live-harness.ts';

const OUTPUT_AUDIO = { encoding: 'pcm16', sampleRate: 24_000 } as const;

const request: LiveOpenRequest = {
  tools: [
    {
      name: 'f',
      description: 'F.',
      parameters: {
        type: 'object',
        properties: { n: { type: 'integer' }, list: { type: 'array' } },
      },
    },
  ],
};

/** Anything that JSON can hold, often of the type that a member should have. */
const anyJson = fc.oneof(
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
  fc.boolean(),
  fc.integer(),
  fc.constantFrom('r', 'c1', 'c2', 'i', 'f', 'AAAA', '__proto__', '1.5s', '{"a":1}'),
  fc.jsonValue({ maxDepth: 2 }).map((value) => value as unknown),
);

/** An object with some of these members. A member has its type, or anything. */
function someOf(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  const loose = Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: anyJson }),
    ]),
  );
  return fc.record(loose, { requiredKeys: [] });
}

const flag = fc.constant(true);
const words = fc.constantFrom('Hello ', 'one two', '😀'.repeat(6_000));
const id = fc.constantFrom('c1', 'c2', 'c3');
const args = someOf({ n: fc.integer(), list: fc.array(fc.integer()) });

const geminiPart = someOf({
  text: words,
  thought: flag,
  inlineData: someOf({
    mimeType: fc.constantFrom('audio/pcm;rate=24000', 'audio/pcm', 'audio/wav'),
    data: fc.base64String(),
  }),
});

const geminiMessage = someOf({
  setupComplete: fc.constant({}),
  serverContent: someOf({
    modelTurn: someOf({ parts: fc.array(geminiPart, { maxLength: 3 }) }),
    interrupted: flag,
    turnComplete: flag,
    generationComplete: flag,
    turnCompleteReason: fc.constantFrom('RESPONSE_REJECTED', 'OTHER'),
    inputTranscription: someOf({ text: words, finished: flag }),
    outputTranscription: someOf({ text: words }),
  }),
  toolCall: someOf({
    functionCalls: fc.array(someOf({ id, name: fc.constant('f'), args }), { maxLength: 3 }),
  }),
  toolCallCancellation: someOf({ ids: fc.array(id) }),
  usageMetadata: someOf({ promptTokenCount: fc.nat(), totalTokenCount: fc.nat() }),
  goAway: someOf({ timeLeft: fc.constantFrom('1s', '0.5s', 'soon') }),
  sessionResumptionUpdate: someOf({ newHandle: fc.string(), resumable: fc.boolean() }),
  voiceActivity: someOf({ voiceActivityType: fc.constantFrom('ACTIVITY_START', 'ACTIVITY_END') }),
});

const realtimeCall = fc.record({
  type: fc.constantFrom('function_call', 'message'),
  call_id: id,
  name: fc.constant('f'),
  arguments: fc.constantFrom('{}', '{"n":1}', '{', `{"x":"${'x'.repeat(40_000)}"}`),
});

/** The beginning and the end of a response, as they are. */
const wholeResponse = fc.constantFrom(
  { type: 'response.created', response: { id: 'r' } },
  { type: 'response.output_audio_transcript.delta', response_id: 'r', item_id: 'i', delta: 'Hi' },
  { type: 'response.done', response: { id: 'r', status: 'completed', output: [] } },
  { type: 'response.done', response: { id: 'r', status: 'cancelled' } },
);

const responseId = fc.constantFrom('r', 'other');

const realtimeMessage = fc
  .tuple(
    fc.constantFrom(
      'session.created',
      'session.updated',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
      'conversation.item.input_audio_transcription.failed',
      'response.created',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.output_text.delta',
      'response.done',
      'error',
      'unknown.type',
    ),
    someOf({
      response_id: responseId,
      item_id: fc.constant('i'),
      delta: fc.oneof(words, fc.base64String()),
      transcript: words,
      audio_start_ms: fc.nat(),
      session: someOf({ expires_at: fc.nat() }),
      error: someOf({ code: fc.string(), type: fc.string(), message: words }),
      response: someOf({
        id: responseId,
        status: fc.constantFrom('completed', 'cancelled', 'failed', 'incomplete'),
        status_details: someOf({
          reason: fc.constantFrom('max_output_tokens', 'content_filter'),
          error: someOf({ code: fc.string(), message: words }),
        }),
        usage: someOf({ input_tokens: fc.nat(), output_tokens: fc.nat() }),
        output: fc.array(fc.oneof(realtimeCall, someOf({ type: fc.string(), call_id: id })), {
          maxLength: 3,
        }),
      }),
    }),
  )
  .map(([type, members]) => ({ ...members, type }));

/** What a client does between the messages. */
const command = fc.constantFrom(
  { kind: 'cut' },
  { kind: 'respond' },
  { kind: 'truncate', reply: 'r1', playedMs: 10.5 },
  { kind: 'nudge', instruction: 'Hm?' },
  { kind: 'tool-result', results: [{ callId: 'c1', name: 'f', response: {} }] },
  { kind: 'audio-end' },
) as fc.Arbitrary<Parameters<LiveProtocol['command']>[0]>;

/** Gives messages to a protocol, as a connection does, and returns what the listener received. */
function play(
  createProtocol: (host: ProtocolHost) => LiveProtocol,
  steps: readonly {
    readonly message?: object;
    readonly command?: Parameters<LiveProtocol['command']>[0];
  }[],
): Conversation {
  const reported: Conversation['reported'][number][] = [];
  const reporter = new LiveReporter(
    {
      onSignal: (signal) => reported.push({ signal }),
      onMedia: (media) => reported.push({ media }),
      onPartial: (partial) => reported.push({ partial }),
      onDiagnostic: (diagnostic) => {
        assert.ok(diagnostic.message.length <= 500);
        reported.push({ diagnostic });
      },
    },
    OUTPUT_AUDIO,
  );
  const protocol = createProtocol({
    reporter,
    send: (message) => assert.ok(JSON.stringify(message).length > 0),
    ready: () => undefined,
    refuse: () => undefined,
  });
  protocol.start();
  for (const step of steps) {
    try {
      if (step.message !== undefined) {
        protocol.receive(JSON.parse(JSON.stringify(step.message)) as Record<string, unknown>);
      }
      if (step.command !== undefined) JSON.stringify(protocol.command(step.command));
    } catch (error) {
      assert.ok(error instanceof ProtocolViolation, String(error));
      break;
    }
  }
  protocol.dispose();
  reporter.close({ reason: 'lost', retryable: true });
  const signals = () => reported.flatMap((what) => ('signal' in what ? what.signal : []));
  return { reported, signals } as unknown as Conversation;
}

function fuzz(
  message: fc.Arbitrary<object>,
  createProtocol: (host: ProtocolHost) => LiveProtocol,
): void {
  const step = fc.oneof(
    { weight: 5, arbitrary: message.map((value) => ({ message: value })) },
    { weight: 1, arbitrary: command.map((value) => ({ command: value })) },
  );
  const counts = new Map<string, number>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const conversation = play(createProtocol, steps);
      assertLawful(conversation);
      for (const { kind } of conversation.signals()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }),
    { numRuns: 500, seed: 74 },
  );
  // The messages are not all nonsense: replies, calls and interruptions occur.
  for (const kind of [
    'begun',
    'said',
    'call',
    'interrupted',
    'done',
    'heard',
    'voice',
    'go-away',
  ]) {
    if (kind === 'go-away' && !counts.has('handle')) continue;
    assert.ok((counts.get(kind) ?? 0) > 20, `${kind}: ${counts.get(kind) ?? 0}`);
  }
}

test('no sequence of messages of Gemini breaks the rules of signals', () => {
  fuzz(geminiMessage, (host) => new GeminiProtocol('gemini/m', 'm', request, host));
});

test('no sequence of messages of the Realtime API breaks the rules of signals', () => {
  const clock = new SimulatedClock();
  const calls = fc.array(realtimeCall, { minLength: 1, maxLength: 3 }).map((output) => ({
    type: 'response.done',
    response: { id: 'r', status: 'completed', output },
  }));
  fuzz(
    fc.oneof(
      { weight: 2, arbitrary: realtimeMessage },
      { weight: 3, arbitrary: wholeResponse },
      calls,
    ),
    (host) =>
      new RealtimeProtocol({ name: 'openai/m', request, transcriptionModel: 't', clock, host }),
  );
});
