import assert from 'node:assert/strict';
import { UnknownFieldError, userContent, type Content } from '../../../../src/core/index.ts';
import {
  LiveConnectionClosedError,
  LiveHandleExpiredError,
} from '../../../../src/live/models/live-errors.ts';
import type {
  LiveModel,
  LiveOpenRequest,
  LiveToolDeclaration,
} from '../../../../src/live/models/live-model.ts';
import type { LiveScript } from '../../../../src/live/models/scripted/scripted-live-turn.ts';
import {
  assertLawful,
  converse,
  joinSaid,
  sendAudio,
  speak,
  type Conversation,
  type LiveFeature,
  type MakeLiveHarness,
} from './live-harness.ts';

/** One requirement of every live model, as a check that passes or throws. */
export interface LiveContractCase {
  readonly name: string;
  /** Skip the case for a protocol without this. */
  readonly needs?: LiveFeature;
  readonly check: (makeHarness: MakeLiveHarness) => Promise<void>;
}

const weather: LiveToolDeclaration = {
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  },
};

const LONG = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');

type Open = (request?: LiveOpenRequest) => Promise<Conversation>;

function contractCase(
  name: string,
  script: LiveScript,
  check: (open: Open, model: LiveModel) => Promise<void>,
  needs?: LiveFeature,
): LiveContractCase {
  return {
    name,
    ...(needs === undefined ? {} : { needs }),
    check: async (makeHarness) => {
      const { model, close } = await makeHarness(script);
      const conversations: Conversation[] = [];
      try {
        await check(async (request) => {
          const conversation = await converse(model, request);
          conversations.push(conversation);
          return conversation;
        }, model);
        for (const conversation of conversations) {
          await conversation.connection.close();
          assertLawful(conversation);
          assert.equal(conversation.signals().at(-1)?.kind, 'closed');
        }
      } finally {
        await close();
      }
    },
  };
}

const text = (words: string) => ({ kind: 'text', content: userContent(words) }) as const;

/** The requirements of every live model. */
export const liveContract: readonly LiveContractCase[] = [
  contractCase(
    'a text gets a reply: audio with its positions, the transcript, and the end with usage',
    {
      turns: [
        { text: 'It is sunny.', usage: { inputTokens: 20, outputTokens: 5, totalTokens: 25 } },
      ],
    },
    async (open) => {
      const { connection, until, signals, media, reported } = await open();
      await connection.send(text('How is the weather?'));
      const done = await until('done');
      assert.equal(joinSaid(signals(), done.reply), 'It is sunny.');
      assert.deepEqual([done.finishReason, done.interrupted], ['stop', false]);
      assert.equal(done.usage?.totalTokens, 25);
      assert.deepEqual(
        media().map(({ fromMs, toMs }) => [fromMs, toMs]),
        [
          [0, 200],
          [200, 400],
          [400, 600],
        ],
      );
      const partials = reported.flatMap((what) => ('partial' in what ? what.partial : []));
      assert.equal(partials.map((partial) => partial.text).join(''), 'It is sunny.');
      assert.equal(connection.outputAudio.sampleRate, 24_000);
    },
  ),

  contractCase(
    'speech gets a transcript and a reply, without a command',
    { turns: [{ heard: 'How is the weather?', text: 'Sunny.' }] },
    async (open) => {
      const { connection, until, signals } = await open();
      speak(connection);
      await until('done');
      const kinds = signals().map(({ kind }) => kind);
      assert.deepEqual(
        signals().flatMap((signal) => (signal.kind === 'voice' ? signal.edge : [])),
        ['started', 'stopped'],
      );
      const heard = signals().flatMap((signal) => (signal.kind === 'heard' ? signal.text : []));
      assert.equal(heard.join(''), 'How is the weather?');
      assert.ok(kinds.indexOf('heard') < kinds.indexOf('done'));
    },
  ),

  contractCase(
    'with the modality TEXT the reply is text and has no audio',
    { turns: [{ text: 'It is sunny.' }] },
    async (open) => {
      const { connection, until, signals, media } = await open({
        config: { responseModalities: ['TEXT'] },
      });
      await connection.send(text('Hello'));
      const { reply } = await until('done');
      assert.equal(joinSaid(signals(), reply), 'It is sunny.');
      assert.deepEqual(media(), []);
      const forms = signals().flatMap((signal) => (signal.kind === 'said' ? signal.form : []));
      assert.deepEqual([...new Set(forms)], ['text']);
    },
  ),

  contractCase(
    'transcripts can be turned off',
    { turns: [{ heard: 'Hello?', text: 'Hi.' }] },
    async (open) => {
      const { connection, until, signals, media } = await open({
        config: { inputAudioTranscription: null, outputAudioTranscription: null },
      });
      speak(connection);
      await until('done');
      const kinds = new Set(signals().map(({ kind }) => kind));
      assert.deepEqual([kinds.has('said'), kinds.has('heard'), media().length], [false, false, 1]);
    },
  ),

  contractCase(
    'thinking is apart from what is said',
    { turns: [{ thinking: 'Hm.', text: 'Yes.' }] },
    async (open) => {
      const { connection, until, signals } = await open();
      await connection.send(text('Well?'));
      await until('done');
      const said = signals().flatMap((signal) =>
        signal.kind === 'said' ? [[signal.form, signal.text]] : [],
      );
      assert.deepEqual(said, [
        ['thought', 'Hm.'],
        ['audio', 'Yes.'],
      ]);
    },
    'thinking',
  ),

  contractCase(
    'calls end a reply, their results start the next one, and the arguments are unchanged',
    {
      turns: [
        {
          toolCalls: [
            { id: 'call_1', name: 'weather', args: { city: 'Rome', days: 2 } },
            { id: 'call_2', name: 'weather', args: { city: 'Oslo' } },
          ],
        },
        { text: 'Sunny in both.' },
      ],
    },
    async (open) => {
      const { connection, until, signals } = await open({ tools: [weather] });
      await connection.send(text('Rome and Oslo?'));
      const { calls, reply } = await until('call');
      assert.deepEqual(calls, [
        { id: 'call_1', name: 'weather', args: { city: 'Rome', days: 2 } },
        { id: 'call_2', name: 'weather', args: { city: 'Oslo' } },
      ]);
      assert.equal((await until('done')).finishReason, 'tool_calls');
      const result = { name: 'weather', response: { sky: 'clear' } };
      await connection.send({ kind: 'tool-result', results: [{ callId: 'call_1', ...result }] });
      await connection.send({
        kind: 'tool-result',
        results: [{ callId: 'call_2', ...result, isError: true }],
      });
      const second = await until('done', 2);
      assert.notEqual(second.reply, reply);
      assert.equal(joinSaid(signals(), second.reply), 'Sunny in both.');
    },
  ),

  contractCase(
    'a canceled call is reported, and its result goes nowhere',
    {
      turns: [
        { toolCalls: [{ id: 'call_1', name: 'weather', args: {} }], cancelCallsAfterMs: 1 },
        { text: 'Never mind.' },
      ],
    },
    async (open) => {
      const { connection, until, signals } = await open({ tools: [weather] });
      await connection.send(text('Rome?'));
      assert.deepEqual((await until('call-canceled')).callIds, ['call_1']);
      await connection.send({
        kind: 'tool-result',
        results: [{ callId: 'call_1', name: 'weather', response: {} }],
      });
      await connection.send(text('Forget it.'));
      const { reply } = await until('done', 2);
      assert.equal(joinSaid(signals(), reply), 'Never mind.');
      assert.equal(signals().filter(({ kind }) => kind === 'begun').length, 2);
    },
    'call-cancellation',
  ),

  contractCase(
    'speech during a reply interrupts it, and the next utterance gets the next reply',
    {
      turns: [
        { text: LONG, wordDelayMs: 20 },
        { heard: 'Stop!', text: 'Yes?' },
      ],
    },
    async (open) => {
      const { connection, until, untilReported, signals } = await open();
      await connection.send({ kind: 'respond' });
      await untilReported((what) => 'media' in what);
      speak(connection);
      const { reply } = await until('interrupted');
      const said = joinSaid(signals(), reply);
      assert.ok(said !== '' && LONG.startsWith(said) && said.length < LONG.length, said);
      assert.equal((await until('done')).interrupted, true);
      const next = await until('done', 2);
      assert.equal(joinSaid(signals(), next.reply), 'Yes?');
    },
  ),

  contractCase(
    'NO_INTERRUPTION lets the model finish',
    { turns: [{ text: 'One two three', wordDelayMs: 10 }] },
    async (open) => {
      const { connection, until, untilReported, signals } = await open({
        config: { realtimeInputConfig: { activityHandling: 'NO_INTERRUPTION' } },
      });
      await connection.send({ kind: 'respond' });
      await untilReported((what) => 'media' in what);
      sendAudio(connection, 100, 4_000);
      const { reply, interrupted } = await until('done');
      assert.deepEqual([joinSaid(signals(), reply), interrupted], ['One two three', false]);
    },
  ),

  contractCase(
    'cut stops a reply at once, and truncate at the position that was played is accepted',
    { turns: [{ text: LONG, wordDelayMs: 5 }, { text: 'Next.' }] },
    async (open) => {
      const { connection, until, untilReported, signals, media, diagnostics } = await open();
      await connection.send({ kind: 'cut' });
      await connection.send({ kind: 'respond' });
      await untilReported((what) => 'media' in what && what.media.fromMs >= 400);
      await connection.send({ kind: 'cut' });
      const played = media().length;
      const { reply, interrupted } = await until('done');
      assert.deepEqual([media().length, interrupted], [played, true], 'no audio after the cut');
      await connection.send({ kind: 'truncate', reply, playedMs: 250.5 });
      await connection.send({ kind: 'truncate', reply: 'unknown', playedMs: 10 });
      await connection.send(text('Go on.'));
      const next = await until('done', 2);
      assert.equal(joinSaid(signals(), next.reply), 'Next.');
      assert.deepEqual(diagnostics(), []);
    },
  ),

  contractCase(
    'a text without a reply is only added',
    { turns: [{ text: 'Now.' }] },
    async (open) => {
      const { connection, until, signals } = await open();
      await connection.send({ ...text('Context.'), respond: false });
      await connection.send({ kind: 'respond' });
      const { reply } = await until('done');
      assert.equal(joinSaid(signals(), reply), 'Now.');
    },
  ),

  contractCase('a nudge starts a reply', { turns: [{ text: 'Are you there?' }] }, async (open) => {
    const { connection, until } = await open();
    await connection.send({ kind: 'nudge', instruction: 'Ask whether the user is there.' });
    assert.equal((await until('said')).text, 'Are you there?');
    await until('done');
  }),

  contractCase(
    'activity marks replace the detection of speech',
    { turns: [{ heard: 'Over.', text: 'Roger.' }] },
    async (open) => {
      const { connection, until, signals } = await open({
        config: { realtimeInputConfig: { automaticActivityDetection: { disabled: true } } },
      });
      await connection.send({ kind: 'activity', edge: 'started' });
      speak(connection);
      await connection.send({ kind: 'activity', edge: 'stopped' });
      await until('done');
      const kinds = signals().map(({ kind }) => kind);
      assert.ok(!kinds.includes('voice') && kinds.includes('heard'));
    },
  ),

  contractCase(
    'the end of the audio ends an utterance without silence',
    { turns: [{ heard: 'Bye', text: 'Bye.' }] },
    async (open) => {
      const { connection, until } = await open();
      sendAudio(connection, 300, 4_000);
      await until('voice');
      await connection.send({ kind: 'audio-end' });
      await until('done');
    },
  ),

  contractCase(
    'a history with calls is where the conversation goes on',
    { turns: [{ toolCalls: [] }, { text: 'unused' }, { text: 'As I said, sunny.' }] },
    async (open) => {
      const call = { functionCall: { id: 'c1', name: 'weather', args: { city: 'Rome' } } };
      const result = {
        functionResponse: { id: 'c1', name: 'weather', response: { sky: 'clear' } },
      };
      const history: readonly Content[] = [
        userContent('How is the weather in Rome?'),
        { role: 'model', parts: [call] },
        { role: 'tool', parts: [result] },
        { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Sunny.' }] },
      ];
      const { connection, until, signals } = await open({ history, tools: [weather] });
      await connection.send(text('Again?'));
      const { reply } = await until('done');
      assert.equal(joinSaid(signals(), reply), 'As I said, sunny.');
    },
  ),

  contractCase(
    'go-away tells the time that is left, and the handle resumes the conversation',
    {
      turns: [
        { text: 'One.', goAway: { timeLeftMs: 9_500 }, close: { code: 1008, reason: 'GoAway' } },
        { text: 'Two.' },
      ],
    },
    async (open) => {
      const first = await open({ history: [userContent('Count.')] });
      await first.connection.send({ kind: 'respond' });
      assert.equal((await first.until('go-away')).timeLeftMs, 9_500);
      assert.equal((await first.until('closed')).retryable, true);
      const { handle } = await first.until('handle');
      const second = await open({ handle, history: [userContent('Count.')] });
      await second.connection.send({ kind: 'respond' });
      const { reply } = await second.until('done');
      assert.equal(joinSaid(second.signals(), reply), 'Two.');
    },
    'resumption',
  ),

  contractCase(
    'the result of a call that an earlier connection received is accepted',
    { turns: [{ toolCalls: [{ id: 'call_1', name: 'weather', args: {} }] }, { text: 'Sunny.' }] },
    async (open) => {
      const first = await open({ tools: [weather] });
      await first.connection.send(text('Rome?'));
      const { handle } = await first.until('handle');
      await first.connection.close();
      const second = await open({ handle, tools: [weather] });
      await second.connection.send({
        kind: 'tool-result',
        results: [{ callId: 'call_1', name: 'weather', response: { sky: 'clear' } }],
      });
      const { reply } = await second.until('done');
      assert.equal(joinSaid(second.signals(), reply), 'Sunny.');
    },
    'resumption',
  ),

  contractCase('an unknown handle has expired', { turns: [] }, async (open) => {
    await assert.rejects(open({ handle: 'unknown' }), LiveHandleExpiredError);
  }),

  contractCase(
    'a reply that fails says why, and the conversation goes on',
    {
      turns: [
        { error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
        { text: 'Better.' },
      ],
    },
    async (open) => {
      const { connection, until } = await open();
      await connection.send(text('Hello'));
      const done = await until('done');
      assert.deepEqual(done.error, { code: 'rate_limit_exceeded', message: 'Slow down.' });
      await connection.send(text('Again'));
      assert.equal((await until('done', 2)).error, undefined);
    },
    'reply-errors',
  ),

  contractCase(
    'the finish reason tells a length limit and a refusal',
    { turns: [{ text: 'So', finishReason: 'max_tokens' }, { finishReason: 'refusal' }] },
    async (open) => {
      const { connection, until } = await open();
      await connection.send(text('Hello'));
      assert.equal((await until('done')).finishReason, 'max_tokens');
      await connection.send(text('Again'));
      assert.equal((await until('done', 2)).finishReason, 'refusal');
    },
    'finish-reasons',
  ),

  contractCase(
    'a server that fails closes the connection, during a reply too',
    { turns: [{ text: LONG, close: { code: 1011, reason: 'internal', afterWords: 2 } }] },
    async (open) => {
      const { connection, until, signals } = await open();
      await connection.send(text('Hello'));
      const closed = await until('closed');
      assert.deepEqual([closed.reason, closed.retryable, closed.code], ['lost', true, 1011]);
      const { reply } = await until('begun');
      assert.equal(joinSaid(signals(), reply), 'word0 word1');
      assert.equal(connection.sendAudio(new Uint8Array(2)), false);
      assert.equal(connection.sendImage('image/jpeg', new Uint8Array(2)), false);
      await assert.rejects(connection.send({ kind: 'cut' }), LiveConnectionClosedError);
    },
    'server-close',
  ),

  contractCase(
    'a normal end of the server is not a failure',
    { turns: [{ text: 'Bye.', close: { code: 1000 } }] },
    async (open) => {
      const { connection, until } = await open();
      await connection.send(text('Bye'));
      assert.equal((await until('closed')).reason, 'ended');
    },
    'server-close',
  ),

  contractCase(
    'close during a reply ends it for the listener, and can be repeated',
    { turns: [{ text: LONG, wordDelayMs: 5 }] },
    async (open) => {
      const { connection, untilReported, signals } = await open();
      await connection.send(text('Hello'));
      await untilReported((what) => 'media' in what);
      await Promise.all([connection.close(), connection.close()]);
      await connection.close();
      const closed = signals().at(-1);
      assert.deepEqual(closed, { kind: 'closed', reason: 'client', retryable: false });
      connection.pause();
      connection.resume();
    },
  ),

  contractCase('an abort closes an open connection', { turns: [] }, async (open) => {
    const { abort, until } = await open();
    abort();
    assert.equal((await until('closed')).reason, 'client');
  }),

  contractCase('an abort before opening opens nothing', { turns: [] }, async (_open, model) => {
    const listener = {
      onSignal: () => assert.fail('a signal'),
      onMedia: () => assert.fail('media'),
    };
    const opening = model.open({}, { signal: AbortSignal.abort(), listener });
    await assert.rejects(opening, { code: 'model_aborted' });
  }),

  contractCase(
    'a listener that throws is reported, and the conversation goes on',
    { turns: [{ text: 'One two' }] },
    async (_open, model) => {
      const { connection, until, diagnostics } = await converse(model, {}, (what) => {
        if ('media' in what) throw new Error('full');
      });
      await connection.send(text('Hello'));
      await until('done');
      assert.deepEqual(
        diagnostics().map(({ kind }) => kind),
        ['listener_failed', 'listener_failed'],
      );
      await connection.close();
    },
  ),

  contractCase('wrong options are refused by name', { turns: [] }, async (open) => {
    await assert.rejects(open({ config: { voice: 'x' } as never }), UnknownFieldError);
  }),
];
