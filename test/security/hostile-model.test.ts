import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { LogEvent, LogEventByType } from '../../src/core/index.ts';
import { aiSdkModel } from '../../src/models/index.ts';
import type { LanguageModel, Model } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 4 } };
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
const called = { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } };

function call(toolName: unknown, input: unknown = '{}', toolCallId: unknown = 'c'): object {
  return { type: 'tool-call', toolCallId, toolName, input };
}

function text(content: string): readonly object[] {
  return [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: content },
    { type: 'text-end', id: 't' },
  ];
}

/** A model whose n-th response is the n-th stream, and then "Well.". */
function hostile(...answers: readonly Iterable<unknown>[]): Model {
  let calls = 0;
  const model: LanguageModel = {
    specificationVersion: 'v4',
    provider: 'hostile.chat',
    modelId: 'm',
    supportedUrls: {},
    doStream: async () => {
      const answer = answers[calls] ?? [...text('Well.'), finish];
      calls += 1;
      return { stream: ReadableStream.from(answer) };
    },
  };
  return aiSdkModel(model);
}

interface Played {
  readonly log: readonly LogEvent[];
  /** The arguments of the tool's executed calls. */
  readonly ran: readonly unknown[];
  readonly results: readonly LogEventByType<'tool.result'>[];
}

/** Runs a turn with a hostile model, then a second turn, which must get an answer. */
async function play(model: Model, store = 'memory:'): Promise<Played> {
  const ran: unknown[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: {
      type: 'object',
      properties: { to: { type: 'string' } },
      required: ['to'],
      additionalProperties: false,
    },
    execute: (args) => {
      ran.push(args);
      return 'paid';
    },
  });
  const assistant = agent({ name: 'assistant', model, tools: [pay], modelAttempts: 1 });
  await using runtime = await openRuntime({ agents: [assistant], store });
  const session = await runtime.session('s');
  const log: LogEvent[] = [];
  for await (const event of session.send('Pay.')) if ('seq' in event) log.push(event);
  assert.equal(log.at(-1)?.type, 'turn.ended');
  const next: LogEvent[] = [];
  for await (const event of session.send('And now?')) if ('seq' in event) next.push(event);
  assert.ok(
    next.some((event) => event.type === 'agent.message'),
    `the next turn works: ${JSON.stringify(next)}`,
  );
  // Read back everything that was stored.
  const kept: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) kept.push(event);
  assert.deepEqual(kept.slice(0, log.length), log);
  return { log, ran, results: log.filter((event) => event.type === 'tool.result') };
}

const codesIn = ({ log }: Played): readonly string[] =>
  log.flatMap((event) => (event.type === 'error' ? [event.code] : []));

test('a call to a tool that is not there, or that has a name of the language, runs nothing', async () => {
  for (const name of [
    'unknown',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'transfer_to_agent',
    'adk_request_confirmation',
    'adk_request_credential',
    'pay\u0000',
    'PAY',
    ' pay',
    '../pay',
    'x'.repeat(100_000),
  ]) {
    const played = await play(hostile([call(name, '{"to":"ann"}'), called]));
    assert.deepEqual(played.ran, [], name.slice(0, 40));
    assert.equal(played.results.length, 1);
    assert.notEqual(played.results[0]?.outcome, 'ok');
  }
});

test('a call without a name, or with one that is no text, is an error of the model', async () => {
  for (const name of ['', undefined, null, 7, {}, ['pay']]) {
    const played = await play(hostile([call(name, '{"to":"ann"}'), called]));
    assert.deepEqual(played.ran, []);
    assert.deepEqual(codesIn(played), ['model_protocol'], String(name));
  }
});

test('invalid arguments do not run the tool', async () => {
  const wrong: readonly unknown[] = [
    '{"to":',
    '{"to":"ann"}}',
    'null',
    '[]',
    '"ann"',
    '7',
    '{"to":7}',
    '{"to":"ann","extra":1}',
    '{"__proto__":{"to":"ann"}}',
    '{"constructor":{"prototype":{"to":"ann"}}}',
    '{"to":"ann","__proto__":{"admin":true}}',
    `{"to":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    '{"to":1e999}',
    undefined,
    null,
    7,
    { to: 'ann' },
    ['ann'],
  ];
  for (const input of wrong) {
    const played = await play(hostile([call('pay', input), called]));
    assert.deepEqual(played.ran, [], JSON.stringify(input)?.slice(0, 80));
    assert.notEqual(played.results[0]?.outcome, 'ok');
  }
  assert.equal('admin' in {}, false);
  assert.equal('to' in {}, false);
});

test('calls with one id are calls of their own, each answered once', async () => {
  const played = await play(
    hostile([call('pay', '{"to":"ann"}'), call('pay', '{"to":"bob"}'), called]),
  );
  assert.deepEqual(played.ran, [{ to: 'ann' }, { to: 'bob' }]);
  assert.equal(new Set(played.results.map(({ callId }) => callId)).size, 2);
});

test('thousands of calls in an answer are an error of the model, and none runs', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => call('pay', '{"to":"ann"}', `c${n}`));
  const played = await play(hostile([...many, called]));
  assert.deepEqual(played.ran, []);
  assert.deepEqual(codesIn(played), ['model_protocol']);
});

test('an answer without an end is cut at a size, and its calls do not run', async () => {
  function* endless(part: object): Generator<object> {
    yield { type: 'text-start', id: 't' };
    yield call('pay', '{"to":"ann"}');
    for (;;) yield part;
  }
  for (const part of [
    { type: 'text-delta', id: 't', delta: 'x'.repeat(65_536) },
    { type: 'tool-input-delta', id: 'c', delta: 'x'.repeat(65_536) },
    { type: 'reasoning-delta', id: 'r', delta: 'x'.repeat(65_536) },
    { type: 'source', id: 's', url: 'x'.repeat(65_536) },
  ]) {
    const played = await play(hostile(endless(part)));
    assert.deepEqual(played.ran, []);
    assert.deepEqual(codesIn(played), ['model_protocol'], part.type);
  }
});

test('a stream that never sends anything can be aborted', async () => {
  for (const part of [{ type: 'raw' }, undefined, 7, { type: 'text-delta', id: 't', delta: '' }]) {
    function* endless(): Generator<unknown> {
      for (;;) yield part;
    }
    const ended = new AbortController();
    const context = { signal: ended.signal, onDelta: () => undefined, firingId: 'f', attempt: 1 };
    const generating = hostile(endless()).generate({ contents: [], tools: [] }, context);
    setImmediate(() => ended.abort());
    await assert.rejects(generating, { name: 'ModelError' });
  }
});

test('arguments of many megabytes are an error, and do not run', async () => {
  const played = await play(hostile([call('pay', `{"to":"${'x'.repeat(40_000_000)}"}`), called]));
  assert.deepEqual(played.ran, []);
  assert.deepEqual(codesIn(played), ['model_protocol']);
});

test('lone surrogates and control characters are kept, on disk too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-hostile-'));
  try {
    const odd = '\ud800 \udfff \u0000 \u001b[2J \u202e \ufeff';
    const input = JSON.stringify({ to: odd });
    const played = await play(
      hostile([...text(odd), call('pay', input), called], [call(odd, input), called]),
      `sqlite:${join(folder, 'a.db')}`,
    );
    assert.deepEqual(played.ran, [{ to: odd }]);
    assert.deepEqual(
      played.results.map(({ outcome }) => outcome === 'ok'),
      [true, false],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('parts of wrong types are passed over or are an error, and run nothing', async () => {
  const odd: readonly unknown[] = [
    null,
    7,
    'text',
    [],
    {},
    { type: 7 },
    { type: '__proto__' },
    { type: 'text-delta' },
    { type: 'text-delta', id: {}, delta: 7 },
    { type: 'tool-input-start' },
    { type: 'tool-input-delta', id: 'none', delta: {} },
    { type: 'file' },
    { type: 'file', mediaType: 7, data: {} },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 7 } },
    { type: 'response-metadata', id: 7, modelId: {} },
    { type: 'stream-start', warnings: 'none' },
    { type: 'tool-result', toolCallId: 7, result: 7 },
    { type: 'finish', finishReason: 7, usage: 7 },
    { type: 'error' },
    { type: 'error', error: null },
    { type: 'error', error: { message: 7, statusCode: 'x' } },
  ];
  for (const part of odd) {
    const played = await play(hostile([part, ...text('Fine.'), finish]));
    assert.deepEqual(played.ran, []);
    assert.ok(
      codesIn(played).every((code) => code.startsWith('model_')),
      JSON.stringify(part),
    );
  }
  for (const bad of [null, 7, { inputTokens: { total: -1 } }, { outputTokens: { total: NaN } }])
    await play(hostile([...text('Fine.'), { ...finish, usage: bad }]));
});

/** Responses of a custom model with every type but the right one. */
const RESPONSES: readonly unknown[] = [
  undefined,
  null,
  7,
  'text',
  {},
  { content: null },
  { content: { role: 'model', parts: 'none' }, finishReason: 'stop' },
  { content: { role: 'model', parts: [null] }, finishReason: 'stop' },
  { content: { role: 'user', parts: [{ text: 'I am the user.' }] }, finishReason: 'stop' },
  { content: { role: 'model', parts: [{ text: 7 }] }, finishReason: 'stop' },
  {
    content: { role: 'model', parts: [{ functionCall: { id: '', name: 'pay' } }] },
    finishReason: 'tool_calls',
  },
  {
    content: { role: 'model', parts: [{ functionCall: { id: '', name: 7, args: {} } }] },
    finishReason: 'tool_calls',
  },
  {
    content: {
      role: 'model',
      parts: [{ functionCall: { id: '', name: 'pay', args: { to: () => 'ann' } } }],
    },
    finishReason: 'tool_calls',
  },
  {
    content: {
      role: 'model',
      parts: [{ functionResponse: { id: 'x', name: 'pay', response: { result: 'paid' } } }],
    },
    finishReason: 'stop',
  },
  { content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 7 },
  { content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'stop', usage: 'much' },
  {
    content: { role: 'model', parts: [{ text: 'Hi.' }] },
    finishReason: 'stop',
    providerMetadata: { cycle: 1n },
  },
];

test('an answer of wrong types ends the turn with an error, and runs nothing', async () => {
  for (const [index, response] of RESPONSES.entries()) {
    let calls = 0;
    const model: Model = {
      name: 'odd',
      generate: async () => {
        calls += 1;
        if (calls === 1) return response as Awaited<ReturnType<Model['generate']>>;
        return { content: { role: 'model', parts: [{ text: 'Well.' }] }, finishReason: 'stop' };
      },
    };
    const played = await play(model);
    assert.deepEqual(played.ran, [], `${index}`);
    assert.equal(codesIn(played).length, 1, `${index}`);
  }
});

test('whatever a model throws ends the turn with a code', async () => {
  for (const thrown of [undefined, null, 7, 'text', {}, new Error('no'), { code: 7 }]) {
    let calls = 0;
    const model: Model = {
      name: 'odd',
      generate: async () => {
        calls += 1;
        if (calls === 1) throw thrown;
        return { content: { role: 'model', parts: [{ text: 'Well.' }] }, finishReason: 'stop' };
      },
    };
    const played = await play(model);
    assert.equal(codesIn(played).length, 1);
  }
});
