import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import type { Content, FunctionCallPart } from '../core/index.ts';
import { aiSdkModel } from './ai-sdk-model.ts';
import type { ModelCallOptions, LanguageModel } from './provider/language-model.ts';
import type { GenerationConfig, ModelDelta, ModelRequest, ModelResponse } from './model/model.ts';
import { UnsupportedFeatureError } from './model/unsupported-feature-error.ts';

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 4 } };
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'done' }, usage };

/** A model that implements the specification, as another program could write one. */
function createModel(
  parts: readonly object[],
  more: Partial<LanguageModel> = {},
): { readonly model: LanguageModel; readonly calls: ModelCallOptions[] } {
  const calls: ModelCallOptions[] = [];
  const model: LanguageModel = {
    specificationVersion: 'v4',
    provider: 'other.chat',
    modelId: 'some-model',
    supportedUrls: {},
    doStream: async (options: ModelCallOptions) => {
      calls.push(options);
      return { stream: ReadableStream.from(parts) };
    },
    ...more,
  };
  return { model, calls };
}

async function ask(
  model: LanguageModel,
  request: Partial<ModelRequest> = {},
  context: { readonly signal?: AbortSignal; readonly onDelta?: (delta: ModelDelta) => void } = {},
): Promise<ModelResponse> {
  const { signal = new AbortController().signal, onDelta = () => undefined } = context;
  const contents: readonly Content[] = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  return aiSdkModel(model).generate(
    { contents, tools: [], ...request },
    { signal, onDelta, firingId: 'f', attempt: 1 },
  );
}

test('models of both specification versions fit the types of their packages', () => {
  const acceptModel = (model: LanguageModelV3 | LanguageModelV4): LanguageModel => model;
  assert.equal(typeof acceptModel, 'function');
  assert.equal(aiSdkModel(createModel([]).model).name, 'other/some-model');
  assert.equal(aiSdkModel(createModel([]).model, { name: 'mine' }).name, 'mine');
});

test('a file is sent in the form that each specification version expects', async () => {
  const contents: readonly Content[] = [
    {
      role: 'user',
      parts: [
        { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
      ],
    },
  ];
  const v4 = createModel([finish]);
  await ask(v4.model, { contents });
  const url = new URL('https://example.com/a.png');
  assert.deepEqual(v4.calls[0]?.prompt[0]?.content, [
    {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: 'AAAA' },
      filename: 'a.png',
    },
    { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
  ]);
  const v3 = createModel([finish], { specificationVersion: 'v3' });
  await ask(v3.model, { contents });
  assert.deepEqual(v3.calls[0]?.prompt[0]?.content, [
    { type: 'file', mediaType: 'image/png', data: 'AAAA', filename: 'a.png' },
    { type: 'file', mediaType: 'image/png', data: url },
  ]);
});

test('effort is sent as the standard option in version 4, and as a provider option in version 3', async () => {
  const config: GenerationConfig = { thinking: { effort: 'high' } };
  const v4 = createModel([finish], { provider: 'openai.chat' });
  await ask(v4.model, { config });
  assert.equal(v4.calls[0]?.reasoning, 'high');
  const v3 = createModel([finish], { provider: 'openai.chat', specificationVersion: 'v3' });
  await ask(v3.model, { config });
  assert.deepEqual(v3.calls[0]?.providerOptions, { openai: { reasoningEffort: 'high' } });
  const otherProvider = createModel([finish], { specificationVersion: 'v3' });
  await assert.rejects(ask(otherProvider.model, { config }), { feature: 'thinking.effort' });
});

test('a tool call that the provider ran is kept, is not run, and is sent back to the provider', async () => {
  const note = { other: { secret: 'x' } };
  const { model, calls } = createModel([
    { type: 'tool-input-start', id: 't', toolName: 'search', providerExecuted: true },
    {
      type: 'tool-call',
      toolCallId: 't',
      toolName: 'search',
      input: '{"q":1}',
      providerExecuted: true,
      providerMetadata: note,
    },
    {
      type: 'tool-result',
      toolCallId: 't',
      toolName: 'search',
      result: { preview: 1 },
      preliminary: true,
    },
    { type: 'tool-result', toolCallId: 't', toolName: 'search', result: { found: 1 } },
    { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Found.' },
    { type: 'text-end', id: '0' },
    finish,
  ]);
  const { content, finishReason } = await ask(model);
  assert.deepEqual([content.parts.length, finishReason], [4, 'stop']);
  assert.ok(content.parts.slice(0, 3).every((part) => 'opaque' in part));
  await ask(model, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }, content] });
  assert.deepEqual(calls[1]?.prompt[1]?.content, [
    {
      type: 'tool-call',
      toolCallId: 't',
      toolName: 'search',
      input: { q: 1 },
      providerExecuted: true,
      providerOptions: note,
    },
    {
      type: 'tool-result',
      toolCallId: 't',
      toolName: 'search',
      output: { type: 'json', value: { found: 1 } },
    },
    { type: 'text', text: 'Found.' },
  ]);
  const otherProvider = createModel([finish], { provider: 'elsewhere.chat' });
  await ask(otherProvider.model, {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }, content],
  });
  assert.deepEqual(otherProvider.calls[0]?.prompt[1]?.content, [{ type: 'text', text: 'Found.' }]);
});

test('files that a model generates become parts with data or a URL', async () => {
  const { model } = createModel([
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
    { type: 'file', mediaType: 'image/png', data: new Uint8Array([0, 0, 0]) },
    { type: 'file', mediaType: 'image/png', data: 'AAAA' },
    {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'url', url: new URL('https://example.com/a') },
    },
    finish,
  ]);
  const inlineData = { mimeType: 'image/png', data: 'AAAA' };
  assert.deepEqual((await ask(model)).content.parts, [
    { inlineData },
    { inlineData },
    { inlineData },
    { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a' } },
  ]);
});

test('the provider metadata of a reasoning block is merged from its start, deltas and end', async () => {
  const { model } = createModel([
    { type: 'reasoning-start', id: 'r', providerMetadata: { other: { a: 1, b: 1 } } },
    { type: 'reasoning-delta', id: 'r', delta: 'Hm.', providerMetadata: { other: { b: 2 } } },
    { type: 'reasoning-end', id: 'r', providerMetadata: { other: { c: 3 } } },
    finish,
  ]);
  const [part] = (await ask(model)).content.parts;
  assert.deepEqual(part, {
    text: 'Hm.',
    thought: true,
    thoughtSignature: '{"by":"other","note":{"other":{"a":1,"b":2,"c":3}}}',
  });
});

test('a call whose arguments were cut off at the output limit has an argsError', async () => {
  const { model } = createModel([
    { type: 'tool-input-start', id: 't', toolName: 'f' },
    { type: 'tool-input-delta', id: 't', delta: '{"a' },
    { ...finish, finishReason: { unified: 'length', raw: 'max' } },
  ]);
  const { content, finishReason } = await ask(model);
  const [part] = content.parts;
  assert.ok(part !== undefined && 'functionCall' in part);
  assert.equal(part.functionCall.argsError?.raw, '{"a');
  assert.equal(finishReason, 'tool_calls');
});

test('a response without a finish part is rejected, however the package reports it', async () => {
  const text = [
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Half' },
  ];
  const ends: readonly (readonly object[])[] = [
    [],
    [{ ...finish, finishReason: { unified: 'interrupted', raw: undefined } }],
    [{ ...finish, finishReason: { unified: 'other', raw: undefined } }],
    [{ ...finish, finishReason: { unified: 'error', raw: undefined } }],
    // The package makes this part up when the stream breaks off: the provider sent no finish reason.
    [{ ...finish, finishReason: { unified: 'stop', raw: undefined } }],
    [{ ...finish, finishReason: { unified: 'stop', raw: '' } }],
    [{ ...finish, finishReason: { unified: 'length' } }],
    [{ ...finish, finishReason: 'stop' }],
    [{ ...finish, finishReason: null }],
    [
      { type: 'tool-input-start', id: 't', toolName: 'pay' },
      { type: 'tool-call', toolCallId: 't', toolName: 'pay', input: '{}' },
      { ...finish, finishReason: { unified: 'tool-calls', raw: undefined } },
    ],
  ];
  for (const end of ends) {
    await assert.rejects(ask(createModel([...text, ...end]).model), { kind: 'truncated' });
  }
  const malformed = { unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' };
  const failing = ask(createModel([{ ...finish, finishReason: malformed }]).model);
  await assert.rejects(failing, { kind: 'server', retryable: true });
  const odd = { unified: 'other', raw: 'pause' };
  assert.equal(
    (await ask(createModel([{ ...finish, finishReason: odd }]).model)).finishReason,
    'other',
  );
});

test('a response of the responses API can lack a raw finish reason, but not the token counts', async () => {
  const unnamed = { ...finish, finishReason: { unified: 'stop', raw: undefined } };
  for (const provider of ['openai.responses', 'azure.responses', 'azure-openai.responses']) {
    assert.equal((await ask(createModel([unnamed], { provider }).model)).finishReason, 'stop');
    const uncounted = { ...unnamed, usage: { inputTokens: {}, outputTokens: {} } };
    await assert.rejects(ask(createModel([uncounted], { provider }).model), { kind: 'truncated' });
  }
});

/** The only call of a response with these parts. */
async function readCall(parts: readonly object[]): Promise<FunctionCallPart['functionCall']> {
  const { content } = await ask(createModel(parts).model);
  const [part, ...more] = content.parts;
  assert.ok(part !== undefined && 'functionCall' in part && more.length === 0);
  return part.functionCall;
}

test('a call whose arguments differ from the streamed ones does not run', async () => {
  const start = { type: 'tool-input-start', id: 't', toolName: 'pay' };
  const delta = (text: string): object => ({ type: 'tool-input-delta', id: 't', delta: text });
  const call = (input: unknown): object => ({
    type: 'tool-call',
    toolCallId: 't',
    toolName: 'pay',
    input,
  });
  const changed: readonly (readonly [string, unknown])[] = [
    ['{"to": "ann", "am', '{}'],
    ['{"to": "ann"', '{"to": "ann"}'],
    ['{"to": "ann"}', '{"to": "bob"}'],
    ['{"to": "ann"}', '{}'],
    ['{"to": "ann"}', ''],
    ['{"to": "ann"}', undefined],
    ['[1]', '{}'],
  ];
  for (const [written, input] of changed) {
    const { args, argsError } = await readCall([start, delta(written), call(input), finish]);
    assert.deepEqual([args, argsError?.raw], [{}, written], `${written} ${String(input)}`);
  }
  const equivalent: readonly (readonly [readonly string[], string, object])[] = [
    [['{"to": ', '"ann"}'], '{"to":"ann"}', { to: 'ann' }],
    [['{"a":1,"b":2}'], '{"b":2,"a":1}', { a: 1, b: 2 }],
    [[], '{}', {}],
    [[''], '', {}],
    // A package can send a whole call without streaming it first.
    [[], '{"to":"ann"}', { to: 'ann' }],
  ];
  for (const [written, input, expected] of equivalent) {
    const called = await readCall([start, ...written.map(delta), call(input), finish]);
    assert.deepEqual([called.args, called.argsError], [expected, undefined]);
  }
});

test('a call that the package started and did not complete does not run', async () => {
  const start = { type: 'tool-input-start', id: 't', toolName: 'pay' };
  for (const written of ['', '{}', '{"to":"ann"}']) {
    const delta = { type: 'tool-input-delta', id: 't', delta: written };
    const { argsError } = await readCall([start, delta, finish]);
    assert.equal(argsError?.raw, written);
  }
});

test('a last call without arguments does not run when the response was cut off', async () => {
  const call = { type: 'tool-call', toolCallId: 't', toolName: 'pay', input: '{}' };
  for (const unified of ['length', 'content-filter', 'other']) {
    const { argsError } = await readCall([
      call,
      { ...finish, finishReason: { unified, raw: 'x' } },
    ]);
    assert.notEqual(argsError, undefined, unified);
  }
  assert.equal((await readCall([call, finish])).argsError, undefined);
});

test('an abort rejects at once, even when the package ignores the signal', async () => {
  let stop = new AbortController();
  const waitForever = (): Promise<never> => {
    setImmediate(() => stop.abort());
    return new Promise(() => undefined);
  };
  const unresponsive = createModel([], { doStream: waitForever });
  await assert.rejects(ask(unresponsive.model, {}, { signal: stop.signal }), { kind: 'aborted' });
  stop = new AbortController();
  const silent = new ReadableStream<unknown>({ pull: waitForever });
  const mute = createModel([], { doStream: async () => ({ stream: silent }) });
  await assert.rejects(ask(mute.model, {}, { signal: stop.signal }), { kind: 'aborted' });
});

test('every end of a request cancels the stream of the package', async () => {
  const ends: readonly (readonly object[])[] = [
    [finish],
    [{ type: 'error', error: new Error('x') }],
    [],
  ];
  for (const parts of ends) {
    const { model, calls } = createModel(parts);
    await ask(model).catch(() => undefined);
    assert.equal(calls[0]?.abortSignal.aborted, true);
  }
});

test('a warning of the package about an omitted setting is an error, or is reported with onUnsupported: warn', async () => {
  const warning = { type: 'unsupported', feature: 'topK', details: 'not this one' };
  const note = { type: 'compatibility', feature: 'strict', details: 'a little less' };
  const parts = [{ type: 'stream-start', warnings: [note, warning] }, finish];
  await assert.rejects(
    ask(createModel(parts).model, { config: { topK: 3 } }),
    UnsupportedFeatureError,
  );
  const { providerMetadata } = await ask(createModel(parts).model, {
    config: { topK: 3, onUnsupported: 'warn' },
  });
  assert.equal(providerMetadata?.['warnings'], 'strict: a little less; topK: not this one');
});

test('a setting that the provider does not support is not sent', async () => {
  const { model, calls } = createModel([finish], { provider: 'openai.responses' });
  const config: GenerationConfig = { seed: 1, temperature: 0.5, stopSequences: ['x'] };
  await assert.rejects(ask(model, { config }), {
    code: 'model_unsupported',
    feature: 'stopSequences',
  });
  assert.equal(calls.length, 0);
  const warned = await ask(model, { config: { ...config, onUnsupported: 'warn' } });
  assert.deepEqual(
    [calls[0]?.seed, calls[0]?.stopSequences, calls[0]?.temperature],
    [undefined, undefined, 0.5],
  );
  assert.match(warned.providerMetadata?.['warnings'] ?? '', /seed.*|stopSequences.*/);
});

test('a URL that the provider does not fetch is replaced by a text, or rejected with onUnsupported: refuse', async () => {
  const supportedUrls = { 'image/*': [/^https:\/\/example\.com\/.*$/] };
  const { model, calls } = createModel([finish], { provider: 'openai.chat', supportedUrls });
  const requestImage = (fileUri: string, config: GenerationConfig = {}): Promise<ModelResponse> =>
    ask(model, {
      config,
      contents: [{ role: 'user', parts: [{ fileData: { mimeType: 'image/png', fileUri } }] }],
    });
  const elsewhere = 'https://elsewhere.com/a.png';
  await assert.rejects(requestImage(elsewhere, { onUnsupported: 'refuse' }), {
    feature: 'imageUrls',
  });
  assert.equal(calls.length, 0);
  const { providerMetadata } = await requestImage(elsewhere);
  assert.match(providerMetadata?.['warnings'] ?? '', /imageUrls: the file ".*" of type image\/png/);
  assert.deepEqual(calls[0]?.prompt[0]?.content, [
    { type: 'text', text: `(the file "${elsewhere}" of type image/png: you cannot be shown it)` },
  ]);
  await requestImage('https://example.com/a.png');
  await requestImage('file-123');
  assert.equal(calls.length, 3);
});
