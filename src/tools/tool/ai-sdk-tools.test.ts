import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropic } from '@ai-sdk/anthropic';
import { google } from '@ai-sdk/google';
import { z } from 'zod';
import { InvalidInputError } from '../../core/index.ts';
import { InvalidToolError } from '../schema/invalid-tool-error.ts';
import { aiSdkTools, type AiSdkTool, type AiSdkToolsOptions } from './ai-sdk-tools.ts';
import { providerTool } from './provider-tool.ts';
import { openToolContext, type ToolContext } from './tool-context.ts';
import type { Tool } from './tool.ts';

const progress: string[] = [];

function context(): ToolContext {
  return openToolContext({
    callId: 'c1',
    invocationId: 'e-1',
    sessionKey: { appName: 'a', userId: 'u', sessionId: 's' },
    agentName: 'a',
    signal: new AbortController().signal,
    firingId: 'f',
    attempt: 1,
    snapshot: { state: {} } as never,
    progress: (text) => progress.push(text),
  }).context;
}

function only(one: AiSdkTool, options?: AiSdkToolsOptions): Tool {
  const [converted] = aiSdkTools({ one }, options);
  assert.ok(converted);
  return converted;
}

async function run(one: Tool, args: object): Promise<unknown> {
  const parsed = one.parse(args);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return one.execute(parsed.value, context());
}

test('a function tool keeps its schema, its execute and its context', async () => {
  const weather = only(
    {
      description: 'Weather',
      inputSchema: z.object({ city: z.string() }),
      execute: (
        { city }: { readonly city: string },
        { toolCallId, context: shared }: { readonly toolCallId: string; readonly context: unknown },
      ) => ({ city, toolCallId, shared }),
    },
    { context: 'shared', durability: { one: { readOnly: true } } },
  );
  assert.deepEqual(weather.declaration.parameters['required'], ['city']);
  assert.equal(weather.onCrash, 'rerun');
  assert.deepEqual(await run(weather, { city: 'Bern' }), {
    city: 'Bern',
    toolCallId: 'c1',
    shared: 'shared',
  });
});

test('jsonSchema() and lazy schemas are read', () => {
  const jsonSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  for (const inputSchema of [{ jsonSchema }, () => ({ jsonSchema })])
    assert.deepEqual(only({ inputSchema }).declaration.parameters['required'], ['a']);
  assert.equal(only({ inputSchema: { jsonSchema } }).external, true);
});

test('of a stream of results the last is the result, and the others are progress', async () => {
  const stream = only({
    inputSchema: z.object({}),
    async *execute() {
      yield 'half';
      yield 'done';
    },
  });
  progress.length = 0;
  assert.equal(await run(stream, {}), 'done');
  assert.deepEqual(progress, ['half']);
});

test('toModelOutput decides what the model reads', async () => {
  const shown = only({
    inputSchema: z.object({}),
    execute: () => ({ secretly: 'long' }),
    toModelOutput: () => ({ type: 'text', value: 'short' }),
  });
  assert.equal(await run(shown, {}), 'short');
  const image = only({
    inputSchema: z.object({}),
    execute: () => 1,
    toModelOutput: () => ({
      type: 'content',
      value: [{ type: 'image-data', mediaType: 'image/png', data: 'AAAA' }],
    }),
  });
  assert.deepEqual(await run(image, {}), {
    content: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
  });
  const failed = only({
    inputSchema: z.object({}),
    execute: () => 1,
    toModelOutput: () => ({ type: 'error-text', value: 'It broke.' }),
  });
  await assert.rejects(run(failed, {}), /It broke/);
});

test('reading the messages fails by name', async () => {
  const reader = only({
    inputSchema: z.object({}),
    execute: (_: object, { messages }: { readonly messages: readonly unknown[] }) =>
      messages.length,
  });
  await assert.rejects(run(reader, {}), /reads messages/);
});

test('an approval rule that does not decide at once asks a person', async () => {
  const call = { callId: 'c1', invocationId: 'e', sessionKey: {} as never, agentName: 'a' };
  const rule = async (needsApproval: unknown): Promise<unknown> => {
    const one = only({ inputSchema: z.object({}), needsApproval, execute: () => 1 });
    const parsed = one.parse({});
    assert.ok(parsed.ok && typeof one.needsApproval === 'function');
    return one.needsApproval(parsed.value, call);
  };
  assert.equal(await rule(() => false), false);
  assert.equal(await rule(async () => false), true);
  assert.equal(only({ inputSchema: z.object({}), needsApproval: true }).needsApproval, true);
});

test('tools of providers: run by the provider, or declared by it and run here', async () => {
  const search = only(google.tools.googleSearch({}));
  assert.deepEqual(search.declaration.provider, { id: 'google.google_search', args: {} });
  assert.deepEqual(search.declaration, {
    ...providerTool({ id: 'google.google_search', name: 'one' }).declaration,
  });
  const bash = only(anthropic.tools.bash_20250124({ execute: async ({ command }) => command }));
  assert.equal(bash.declaration.provider?.id, 'anthropic.bash_20250124');
  assert.equal(await run(bash, { command: 'ls' }), 'ls');
  const elsewhere = only(anthropic.tools.memory_20250818({}));
  assert.equal(elsewhere.external, true);
});

test('bad tools are refused by name', () => {
  for (const [one, reason] of [
    [{ inputSchema: z.object({}), strict: true }, /its strict has no meaning/],
    [{ inputSchema: z.object({}), onInputDelta: () => undefined }, /onInputDelta/],
    [{ description: 'none' }, /inputSchema is missing/],
    [{ inputSchema: { jsonSchema: Promise.resolve({}) } }, /must not be a promise/],
    [{ type: 'provider', id: 'nothing', args: {} }, /must be a provider and a tool/],
    ['tool', /must be a tool of the AI SDK/],
  ] as const)
    assert.throws(
      () => aiSdkTools({ bad: one as AiSdkTool }),
      (error) => error instanceof InvalidToolError && reason.test(error.message),
    );
  assert.throws(() => aiSdkTools([] as never), InvalidInputError);
  assert.throws(() => aiSdkTools({}, { durability: { other: {} } }), /durability.other/);
  assert.throws(() => aiSdkTools({}, { contexts: 1 } as never), /contexts/);
  assert.throws(
    () =>
      aiSdkTools(
        { a: { inputSchema: z.object({}) } },
        { durability: { a: { retry: 1 } as never } },
      ),
    /retry/,
  );
  assert.throws(() => providerTool({ id: 'x' }), InvalidToolError);
  assert.throws(() => providerTool({ id: 'google.x', args: 1 as never }), /args must be an object/);
  assert.throws(() => providerTool({ id: 'google.x', options: {} } as never), /options/);
});
