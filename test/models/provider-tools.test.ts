import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { getProviderToolCalls, isJsonObject } from '../../src/core/index.ts';
import type { Content, Event, JsonObject, LogEvent } from '../../src/core/index.ts';
import { toAdkParts } from '../../src/core/internal.ts';
import { toAdkEvent } from '../../src/core/events/to-adk-event.ts';
import { agent } from '../../src/agents/index.ts';
import {
  aiSdkModel,
  resolveModel,
  ScriptedModel,
  UnsupportedFeatureError,
} from '../../src/models/index.ts';
import type { LanguageModel, ToolDeclaration } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { providerTool } from '../../src/tools/index.ts';
import { toWireEvent } from '../../src/adk/internal.ts';
import { ask } from './wire-model.ts';

/** A provider that answers each request with the next of these streams, and the requests that it got. */
function scriptedFetch(...streams: readonly (readonly object[])[]): {
  readonly requests: JsonObject[];
  readonly fetch: typeof fetch;
} {
  const requests: JsonObject[] = [];
  return {
    requests,
    fetch: async (_url, init) => {
      requests.push(JSON.parse(String(init?.body)) as JsonObject);
      const frames = streams[Math.min(requests.length, streams.length) - 1] ?? [];
      const text = frames.map((frame) => {
        const { type } = frame as { readonly type?: string };
        return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(frame)}\n\n`;
      });
      return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
    },
  };
}

function toEvent(content: Content, providerMetadata: Readonly<Record<string, string>> = {}): Event {
  const logged: LogEvent = {
    seq: 1,
    at: 0,
    type: 'agent.message',
    invocationId: 'e-1',
    author: 'a',
    content,
    finishReason: 'stop',
    providerMetadata,
  };
  const event = toAdkEvent(logged, '00000000-0000-4000-8000-000000000000');
  assert.ok(event);
  return event;
}

const gemini = (fetch: typeof globalThis.fetch, modelId = 'gemini-2.5-flash'): LanguageModel =>
  createGoogleGenerativeAI({ apiKey: 'k', fetch })(modelId);

test('google_search: the request names it, and the answer keeps its grounding metadata', async () => {
  const groundingMetadata = {
    webSearchQueries: ['weather in Bern'],
    groundingChunks: [{ web: { uri: 'https://example.com/w', title: 'Weather' } }],
  };
  const { requests, fetch } = scriptedFetch([
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Sunny.' }] },
          finishReason: 'STOP',
          groundingMetadata,
        },
      ],
    },
  ]);
  const search = providerTool({ id: 'google.google_search' });
  assert.equal(search.name, 'google_search');
  const { content, providerMetadata } = await ask(aiSdkModel(gemini(fetch)), {
    tools: [search.declaration],
  });
  assert.deepEqual(requests[0]?.['tools'], [{ googleSearch: {} }]);
  const event = toEvent(content, providerMetadata);
  assert.deepEqual(event.groundingMetadata, groundingMetadata);
  assert.deepEqual(toWireEvent(event, 'a')['groundingMetadata'], groundingMetadata);
  assert.equal(event.citationMetadata, undefined);
});

test('url_context, google_maps and code_execution are tools of Gemini', async () => {
  const end = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Ok.' }] }, finishReason: 'STOP' }],
  };
  const { requests, fetch } = scriptedFetch([end]);
  const model = aiSdkModel(gemini(fetch));
  const ids = ['google.url_context', 'google.google_maps', 'google.code_execution'];
  await ask(model, { tools: ids.map((id) => providerTool({ id }).declaration) });
  assert.deepEqual(requests[0]?.['tools'], [
    { urlContext: {} },
    { googleMaps: {} },
    { codeExecution: {} },
  ]);
});

test('a program that Gemini runs is a call with a result, and is sent back to Gemini only', async () => {
  const program = { language: 'PYTHON', code: 'print(6*7)' };
  const output = { outcome: 'OUTCOME_OK', output: '42\n' };
  const parts = [
    { executableCode: program },
    { codeExecutionResult: output },
    { text: 'It is 42.' },
  ];
  const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
  const { requests, fetch } = scriptedFetch([answer]);
  const tools = [providerTool({ id: 'google.code_execution' }).declaration];
  const model = aiSdkModel(gemini(fetch));
  const { content } = await ask(model, { tools });
  const [call] = getProviderToolCalls(content);
  assert.deepEqual(call, {
    id: call?.id,
    name: 'code_execution',
    provider: 'google',
    args: program,
    result: output,
  });
  assert.deepEqual(
    content.parts.flatMap((part) => ('opaque' in part ? toAdkParts(part) : [])),
    [{ executableCode: program }, { codeExecutionResult: output }],
  );
  const contents: readonly Content[] = [
    { role: 'user', parts: [{ text: 'Hi' }] },
    content,
    { role: 'user', parts: [{ text: 'Again' }] },
  ];
  await ask(model, { contents, tools });
  assert.match(JSON.stringify(requests[1]), /print\(6\*7\)/);
  const other = scriptedFetch([]);
  await assert.rejects(
    ask(aiSdkModel(createOpenAI({ apiKey: 'k', fetch: other.fetch })('gpt-4o')), { contents }),
  );
  assert.doesNotMatch(JSON.stringify(other.requests), /print/);
});

test("Anthropic's web search: call, result and citations reach the event", async () => {
  const found = [
    {
      type: 'web_search_result',
      url: 'https://example.com/a',
      title: 'A',
      encrypted_content: 'x',
      page_age: null,
    },
  ];
  const { requests, fetch } = scriptedFetch([
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"query":"news"}' },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: found },
    },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'News.' } },
    { type: 'content_block_stop', index: 2 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ]);
  const search = providerTool({ id: 'anthropic.web_search_20250305', args: { maxUses: 2 } });
  assert.equal(search.name, 'web_search');
  const model = aiSdkModel(createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5'));
  const { content, providerMetadata } = await ask(model, { tools: [search.declaration] });
  assert.deepEqual(requests[0]?.['tools'], [
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
  ]);
  const event = toEvent(content, providerMetadata);
  const [call] = getProviderToolCalls(event);
  assert.equal(call?.name, 'web_search');
  assert.deepEqual(call.args, { query: 'news' });
  assert.ok(Array.isArray(call.result) && isJsonObject(call.result[0]));
  assert.equal(call.result[0]['url'], 'https://example.com/a');
  assert.deepEqual(event.citationMetadata, {
    citations: [{ uri: 'https://example.com/a', title: 'A' }],
  });
  const wire = JSON.stringify(toWireEvent(event, 'a')['content']);
  assert.match(
    wire,
    /"toolCall":\{"id":"srv_1","toolType":"web_search","args":\{"query":"news"\}\}/,
  );
  assert.match(wire, /"toolResponse":\{"id":"srv_1"/);
});

test("OpenAI's web search is sent as its own tool", async () => {
  const { requests, fetch } = scriptedFetch([]);
  const model = aiSdkModel(createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5'));
  const tools = [
    providerTool({ id: 'openai.web_search', args: { searchContextSize: 'low' } }).declaration,
  ];
  await assert.rejects(ask(model, { tools })); // the stream has no end
  assert.deepEqual(requests[0]?.['tools'], [{ type: 'web_search', search_context_size: 'low' }]);
});

test('a model of another provider refuses the tool by name before it sends anything', async () => {
  const { requests, fetch } = scriptedFetch([]);
  const tools: readonly ToolDeclaration[] = [
    providerTool({ id: 'google.google_search' }).declaration,
  ];
  const openai = createOpenAI({ apiKey: 'k', fetch });
  for (const model of [openai.responses('gpt-5'), openai.chat('gpt-4o')])
    await assert.rejects(ask(aiSdkModel(model), { tools }), (error) => {
      assert.ok(error instanceof UnsupportedFeatureError);
      assert.equal(error.feature, 'tool google.google_search');
      return true;
    });
  assert.equal(requests.length, 0);
  await assert.rejects(
    ask(aiSdkModel(openai.chat('gpt-4o')), { tools, config: { onUnsupported: 'warn' } }),
  );
  assert.equal(requests[0]?.['tools'], undefined);
});

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

test('an agent: the log and the journal keep what the provider ran, and nothing is run here', async () => {
  const program = { language: 'PYTHON', code: 'print(6*7)' };
  const parts = [
    { executableCode: program },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42' } },
    { text: 'It is 42.' },
  ];
  const { requests, fetch } = scriptedFetch([
    { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] },
  ]);
  const model = await resolveModel('gemini-2.5-flash', { apiKey: () => 'k', fetch });
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [providerTool({ id: 'google.code_execution' })],
  });
  await using runtime = await openRuntime({ agents: [clerk], store: 'memory:' });
  const session = await runtime.session('s');
  assert.equal(await session.ask('6 times 7?'), 'It is 42.');
  assert.deepEqual(requests[0]?.['tools'], [{ codeExecution: {} }]);
  const log = await readLog(session);
  assert.deepEqual(
    log.map(({ type }) => type).filter((type) => type.startsWith('tool.')),
    [],
  );
  const message = log.find((event) => event.type === 'agent.message');
  assert.deepEqual(
    getProviderToolCalls(message).map(({ name, args, result }) => ({ name, args, result })),
    [{ name: 'code_execution', args: program, result: { outcome: 'OUTCOME_OK', output: '42' } }],
  );
});

test('a function call of a tool that the provider runs is answered with an error', async () => {
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'google_search', args: {} }] },
    { text: 'Never mind.' },
  ]);
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [providerTool({ id: 'google.google_search' })],
  });
  await using runtime = await openRuntime({ agents: [clerk], store: 'memory:' });
  const session = await runtime.session('s');
  assert.equal(await session.ask('Search.'), 'Never mind.');
  const log = await readLog(session);
  const result = log.find((event) => event.type === 'tool.result');
  assert.match(JSON.stringify(result), /is run by the provider of the model/);
});
