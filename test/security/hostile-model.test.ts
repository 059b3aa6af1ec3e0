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
const finishWithCalls = { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } };

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

interface TurnResult {
  readonly log: readonly LogEvent[];
  /** The arguments of the tool's executed calls. */
  readonly ran: readonly unknown[];
  readonly results: readonly LogEventByType<'tool.result'>[];
}

/** Runs a turn with a hostile model, then a second turn, which must get an answer. */
async function runTurn(model: Model, store = 'memory:'): Promise<TurnResult> {
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
  const storedLog: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) storedLog.push(event);
  assert.deepEqual(storedLog.slice(0, log.length), log);
  return { log, ran, results: log.filter((event) => event.type === 'tool.result') };
}

const codesIn = ({ log }: TurnResult): readonly string[] =>
  log.flatMap((event) => (event.type === 'error' ? [event.code] : []));

test('a call to a tool that does not exist runs nothing, even if its name is a property of Object.prototype', async () => {
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
    const turn = await runTurn(hostile([call(name, '{"to":"ann"}'), finishWithCalls]));
    assert.deepEqual(turn.ran, [], name.slice(0, 40));
    assert.equal(turn.results.length, 1);
    assert.notEqual(turn.results[0]?.outcome, 'ok');
  }
});

test('a call whose name is missing or not a string fails with model_protocol', async () => {
  for (const name of ['', undefined, null, 7, {}, ['pay']]) {
    const turn = await runTurn(hostile([call(name, '{"to":"ann"}'), finishWithCalls]));
    assert.deepEqual(turn.ran, []);
    assert.deepEqual(codesIn(turn), ['model_protocol'], String(name));
  }
});

test('a call with invalid arguments does not run its tool', async () => {
  const invalidInputs: readonly unknown[] = [
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
  for (const input of invalidInputs) {
    const turn = await runTurn(hostile([call('pay', input), finishWithCalls]));
    assert.deepEqual(turn.ran, [], JSON.stringify(input)?.slice(0, 80));
    assert.notEqual(turn.results[0]?.outcome, 'ok');
  }
  assert.equal('admin' in {}, false);
  assert.equal('to' in {}, false);
});

test('two calls with the same id both run, and each gets its own result', async () => {
  const turn = await runTurn(
    hostile([call('pay', '{"to":"ann"}'), call('pay', '{"to":"bob"}'), finishWithCalls]),
  );
  assert.deepEqual(turn.ran, [{ to: 'ann' }, { to: 'bob' }]);
  assert.equal(new Set(turn.results.map(({ callId }) => callId)).size, 2);
});

test('an answer with thousands of calls fails with model_protocol, and none of them runs', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => call('pay', '{"to":"ann"}', `c${n}`));
  const turn = await runTurn(hostile([...many, finishWithCalls]));
  assert.deepEqual(turn.ran, []);
  assert.deepEqual(codesIn(turn), ['model_protocol']);
});

test('an endless answer is cut off at a size limit, and its calls do not run', async () => {
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
    const turn = await runTurn(hostile(endless(part)));
    assert.deepEqual(turn.ran, []);
    assert.deepEqual(codesIn(turn), ['model_protocol'], part.type);
  }
});

test('a stream that only sends empty parts can be aborted', async () => {
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

test('a call with arguments of many megabytes fails with model_protocol and does not run', async () => {
  const turn = await runTurn(
    hostile([call('pay', `{"to":"${'x'.repeat(40_000_000)}"}`), finishWithCalls]),
  );
  assert.deepEqual(turn.ran, []);
  assert.deepEqual(codesIn(turn), ['model_protocol']);
});

test('lone surrogates and control characters are preserved, also in a SQLite store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-hostile-'));
  try {
    const unusualText = '\ud800 \udfff \u0000 \u001b[2J \u202e \ufeff';
    const input = JSON.stringify({ to: unusualText });
    const turn = await runTurn(
      hostile(
        [...text(unusualText), call('pay', input), finishWithCalls],
        [call(unusualText, input), finishWithCalls],
      ),
      `sqlite:${join(folder, 'a.db')}`,
    );
    assert.deepEqual(turn.ran, [{ to: unusualText }]);
    assert.deepEqual(
      turn.results.map(({ outcome }) => outcome === 'ok'),
      [true, false],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('stream parts of wrong types are ignored or fail the turn, and run nothing', async () => {
  const malformedParts: readonly unknown[] = [
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
  for (const part of malformedParts) {
    const turn = await runTurn(hostile([part, ...text('Fine.'), finish]));
    assert.deepEqual(turn.ran, []);
    assert.ok(
      codesIn(turn).every((code) => code.startsWith('model_')),
      JSON.stringify(part),
    );
  }
  for (const badUsage of [
    null,
    7,
    { inputTokens: { total: -1 } },
    { outputTokens: { total: NaN } },
  ])
    await runTurn(hostile([...text('Fine.'), { ...finish, usage: badUsage }]));
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

test('a response of a wrong type ends the turn with an error and runs nothing', async () => {
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
    const turn = await runTurn(model);
    assert.deepEqual(turn.ran, [], `${index}`);
    assert.equal(codesIn(turn).length, 1, `${index}`);
  }
});

test('any value that a model throws ends the turn with an error code', async () => {
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
    const turn = await runTurn(model);
    assert.equal(codesIn(turn).length, 1);
  }
});
