import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { recordedTelemetry, formatTree, within } from '../../test/telemetry/spans.ts';
import { agent, agentTool, parallel, sequential } from '../agents/index.ts';
import { type Model, ScriptedModel, ModelError } from '../models/index.ts';
import {
  App,
  InMemoryRunner,
  LlmAgent,
  OpenTelemetryPlugin,
  SequentialAgent,
} from '../adk/index.ts';
import { openRuntime } from '../runtime/index.ts';
import { MemoryStore } from '../store/index.ts';
import { tool } from '../tools/index.ts';
import { GenAi } from './attribute-names.ts';
import { openTelemetry } from './open-telemetry.ts';

const usage = { inputTokens: 10, outputTokens: 4, totalTokens: 14, thinkingTokens: 3 };

/** Calls the tool, then answers. */
const createToolCaller = (name = 'google/gemini-2.5-flash'): Model => {
  const script = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { text: 'I will.', toolCalls: [{ name: 'look', args: {} }], usage }
      : { text: 'Done.', usage },
  );
  return {
    name,
    generate: async (request, context) => script.generate(request, context),
  };
};

const look = (execute: () => unknown = () => 'seen', needsApproval = false) =>
  tool({ name: 'look', description: 'Looks.', readOnly: true, needsApproval, execute });

const withoutCommits = (spans: readonly ReadableSpan[]): readonly ReadableSpan[] =>
  spans.filter(({ name }) => name !== 'commit');

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan =>
  spans.find((span) => span.name === name) ?? assert.fail(`no span ${name}`);

async function sent(turn: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of turn);
}

describe('the trace of a session', () => {
  it('has an invocation with its agent, its model calls, its tools and its commits', async () => {
    const { telemetry, spans } = await recordedTelemetry();
    const config = { temperature: 0.2, maxOutputTokens: 100 };
    const helper = agent({ name: 'helper', model: createToolCaller(), tools: [look()], config });
    await using runtime = await openRuntime({ agents: [helper], interceptors: [telemetry] });
    await sent((await runtime.session('s1')).send('go'));
    assert.deepEqual(formatTree(withoutCommits(spans())), [
      'send',
      '  invocation',
      '    invoke_agent helper',
      '      chat gemini-2.5-flash',
      '      execute_tool look',
      '      chat gemini-2.5-flash',
    ]);
    const chat = named(spans(), 'chat gemini-2.5-flash');
    assert.equal(chat.kind, SpanKind.CLIENT);
    assert.deepEqual(chat.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-2.5-flash',
      'gen_ai.request.temperature': 0.2,
      'gen_ai.request.max_tokens': 100,
      'gen_ai.conversation.id': 's1',
      'gen_ai.agent.name': 'helper',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.reasoning.output_tokens': 3,
      'petrichor.attempt': 1,
    });
    const { attributes } = named(spans(), 'execute_tool look');
    assert.deepEqual(
      [attributes[GenAi.operationName], attributes[GenAi.toolName], attributes[GenAi.toolType]],
      ['execute_tool', 'look', 'function'],
    );
    const invocation = named(spans(), 'invocation').attributes;
    assert.equal(invocation['gen_ai.usage.input_tokens'], 20);
    assert.equal(invocation['petrichor.stop_reason'], 'end_turn');
    assert.match(String(invocation['petrichor.invocation.id']), /^e-/);
    const commits = spans().filter(({ name }) => name === 'commit');
    assert.deepEqual(
      commits.map((span) => span.attributes['petrichor.step']),
      commits.map((_, index) => index + 1),
    );
    assert.ok(commits.length >= 4);
  });

  it('is below the span of the sender, and above the spans of its tools', async () => {
    const { telemetry, provider, spans } = await recordedTelemetry();
    const tracer = provider.getTracer('shop');
    const tools = [look(() => tracer.startSpan('select').end())];
    const helper = agent({ name: 'helper', model: createToolCaller(), tools });
    await using runtime = await openRuntime({ agents: [helper], interceptors: [telemetry] });
    const session = await runtime.session('s1');
    const request = tracer.startSpan('POST /chat');
    await within(request, async () => sent(session.send('go')));
    request.end();
    assert.deepEqual(formatTree(withoutCommits(spans())), [
      'POST /chat',
      '  invocation',
      '    invoke_agent helper',
      '      chat gemini-2.5-flash',
      '      execute_tool look',
      '        select',
      '      chat gemini-2.5-flash',
    ]);
  });

  it('has each of several agents under its caller, and an agent tool under its tool call', async () => {
    const { telemetry, spans } = await recordedTelemetry();
    const textAgent = (name: string) => agent({ name, model: new ScriptedModel([{ text: name }]) });
    const caller = agent({
      name: 'asker',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'user'
          ? { toolCalls: [{ name: 'expert', args: { request: 'why' } }] }
          : { text: 'Because.' },
      ),
      tools: [agentTool(textAgent('expert'))],
    });
    const root = sequential({
      name: 'root',
      subAgents: [parallel({ name: 'both', subAgents: [textAgent('a'), textAgent('b')] }), caller],
    });
    await using runtime = await openRuntime({ agents: [root], interceptors: [telemetry] });
    await sent((await runtime.session('s1')).send('go'));
    const tree = formatTree(withoutCommits(spans()));
    assert.equal(new Set(spans().map((span) => span.spanContext().traceId)).size, 1);
    assert.deepEqual(
      tree.filter((line) => !line.includes('chat')),
      [
        'send',
        '  invocation',
        '    invoke_agent root',
        '      invoke_agent both',
        '        invoke_agent a',
        '        invoke_agent b',
        '      invoke_agent asker',
        '        execute_tool expert',
        '          invocation',
        '            invoke_agent expert',
      ],
    );
  });

  it('has one invocation for each of several queued messages, one after the other', async () => {
    const { telemetry, spans } = await recordedTelemetry();
    const helper = agent({ name: 'helper', model: createToolCaller(), tools: [look()] });
    await using runtime = await openRuntime({ agents: [helper], interceptors: [telemetry] });
    const session = await runtime.session('s1');
    const turns = ['one', 'two', 'three'].map((message) => session.send(message));
    for (const turn of turns) await sent(turn);
    const one = [
      'send',
      '  invocation',
      '    invoke_agent helper',
      '      chat gemini-2.5-flash',
      '      execute_tool look',
      '      chat gemini-2.5-flash',
    ];
    assert.deepEqual(formatTree(withoutCommits(spans())), [...one, ...one, ...one]);
    assert.ok(spans().every(({ attributes }) => attributes['petrichor.left'] === undefined));
    const ended = spans().filter(({ name }) => name === 'invocation');
    assert.deepEqual(
      ended.map(({ attributes }) => attributes['petrichor.stop_reason']),
      ['end_turn', 'end_turn', 'end_turn'],
    );
  });

  it('has the agents of an app under their own names', async () => {
    const { telemetry, spans } = await recordedTelemetry();
    const scripted = (name: string) =>
      new LlmAgent({ name, model: new ScriptedModel([{ text: name }]) });
    const team = new SequentialAgent({ name: 'team', subAgents: [scripted('a'), scripted('b')] });
    const app = new App({
      name: 'demo',
      rootAgent: team,
      plugins: [new OpenTelemetryPlugin(telemetry)],
    });
    await using runner = new InMemoryRunner({ app });
    await runner.runDebug('go');
    assert.deepEqual(formatTree(withoutCommits(spans())), [
      'send',
      '  invocation',
      '    invoke_agent team',
      '      invoke_agent a',
      '        chat scripted',
      '      invoke_agent b',
      '        chat scripted',
    ]);
  });

  it('is empty without an SDK, and nothing of it is journaled', async () => {
    await using telemetry = await openTelemetry();
    const helper = agent({ name: 'helper', model: createToolCaller(), tools: [look()] });
    await using runtime = await openRuntime({ agents: [helper], interceptors: [telemetry] });
    const session = await runtime.session('s1');
    await sent(session.send('go'));
    assert.equal(telemetry.propagateContext(), undefined);
    for await (const { records } of runtime.store.steps(session.key, 0))
      assert.doesNotMatch(JSON.stringify(records), /traceparent/);
  });

  it('has the error of a tool, a model attempt or an invocation', async () => {
    const { telemetry, spans } = await recordedTelemetry();
    const broken = agent({
      name: 'broken',
      model: {
        name: 'acme/large',
        generate: async () => {
          throw new ModelError({
            model: 'large',
            kind: 'server',
            message: 'down',
            retryAfterMs: 1,
          });
        },
      },
      modelAttempts: 2,
    });
    const thrower = agent({
      name: 'thrower',
      model: createToolCaller(),
      tools: [
        look(() => {
          throw new RangeError('no eyes');
        }),
      ],
    });
    await using runtime = await openRuntime({
      agents: [broken, thrower],
      interceptors: [telemetry],
    });
    await sent((await runtime.session('s1', { agent: 'broken' })).send('go'));
    await sent((await runtime.session('s2', { agent: 'thrower' })).send('go'));
    const chats = spans().filter(({ name }) => name === 'chat large');
    assert.deepEqual(
      chats.map(({ attributes }) => [attributes['petrichor.attempt'], attributes['error.type']]),
      [
        [1, 'model_server'],
        [2, 'model_server'],
      ],
    );
    const [first, second] = spans().filter(({ name }) => name === 'invocation');
    assert.equal(first?.status.code, SpanStatusCode.ERROR);
    assert.equal(second?.status.code, SpanStatusCode.UNSET);
    const failed = named(spans(), 'execute_tool look');
    assert.deepEqual(failed.status, { code: SpanStatusCode.ERROR, message: 'no eyes' });
    assert.equal(failed.attributes['error.type'], 'RangeError');
  });

  it('has the wait of a call, even when another runtime receives the answer', async () => {
    const { telemetry, spans } = await recordedTelemetry();
    const helper = agent({
      name: 'helper',
      model: createToolCaller(),
      tools: [look(() => 'seen', true)],
    });
    const store = new MemoryStore();
    await using first = await openRuntime({ agents: [helper], store, interceptors: [telemetry] });
    await sent((await first.session('s1')).send('go'));
    await telemetry[Symbol.asyncDispose]();
    const firstSpan = named(spans(), 'invocation');
    assert.equal(firstSpan.attributes['petrichor.left'], true);
    await first.close();

    const later = await recordedTelemetry();
    await using second = await openRuntime({
      agents: [helper],
      store,
      interceptors: [later.telemetry],
    });
    const session = await second.session('s1');
    const [call] = await session.pending();
    await sent(session.approve(call?.id ?? ''));
    await later.telemetry.settled();
    const park = named(later.spans(), 'park look');
    assert.equal(park.attributes['petrichor.park.decision'], 'approved');
    for await (const event of store.read(session.key, 0)) {
      if (event.type === 'tool.call')
        assert.equal(park.startTime[0] * 1000 + park.startTime[1] / 1e6, event.at);
    }
    const [traceId] = new Set(spans().map((span) => span.spanContext().traceId));
    assert.deepEqual(
      [...new Set(later.spans().map((span) => span.spanContext().traceId))],
      [traceId],
    );
    const resumed = named(later.spans(), 'invocation');
    assert.equal(resumed.attributes['petrichor.invocation.resumed'], true);
    assert.equal(resumed.parentSpanContext?.spanId, firstSpan.parentSpanContext?.spanId);
  });
});

it('every attribute has a name that the semantic conventions publish', () => {
  const published = new Set<unknown>(Object.values(conventions));
  assert.deepEqual(
    Object.values(GenAi).filter((name) => !published.has(name)),
    [],
  );
});
