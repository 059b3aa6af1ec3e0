import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentText } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { JournalRecord } from '../../net/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { Interceptor, Session } from '../../runtime/index.ts';
import { tool } from '../../tools/index.ts';
import type { ToolMetadata } from '../../tools/index.ts';
import { agent, agentTool } from '../index.ts';
import type { Agent, AgentDefinition } from '../index.ts';

/** A tool that notes the metadata it gets. */
function noteTool(seen: ToolMetadata[]): ReturnType<typeof tool> {
  return tool({
    name: 'note',
    description: 'Notes.',
    readOnly: true,
    execute: (_, { runConfig, metadata }) => {
      seen.push({ runConfig, metadata });
      return 'noted';
    },
  });
}

/** A model that calls a tool once for each message of a user. */
function callingModel(name: string, args: JsonObject = {}): ScriptedModel {
  return new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { toolCalls: [{ name, args }] }
      : { text: contentText(contents.at(-1)) || 'Done.' },
  );
}

async function finish(turn: AsyncIterable<{ readonly type: string }>): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of turn) types.push(type);
  return types;
}

test('tools, callbacks and the context policy get the metadata of their message only', async () => {
  const seen: ToolMetadata[] = [];
  const inCallbacks: ToolMetadata[] = [];
  const inPolicy: JsonObject[] = [];
  const definition: AgentDefinition = {
    name: 'a',
    model: callingModel('note'),
    tools: [noteTool(seen)],
    context: (contents, { runConfig }) => {
      inPolicy.push(runConfig);
      return contents;
    },
    callbacks: {
      beforeModel: ({ runConfig, metadata }) => {
        inCallbacks.push({ runConfig, metadata });
        return undefined;
      },
    },
  };
  await using runtime = await openRuntime({ agents: [agent(definition)] });
  const session = await runtime.session('s');
  const sent = { runConfig: { locale: 'la' }, metadata: { ticket: 7 } };
  await finish(session.send('One.', sent));
  await finish(session.send('Two.'));
  const none = { runConfig: {}, metadata: {} };
  assert.deepEqual(seen, [sent, none]);
  assert.deepEqual(inCallbacks, [sent, sent, none, none]);
  assert.deepEqual([inPolicy[0], inPolicy.at(-1)], [sent.runConfig, {}]);
});

test('metadata are journaled with the message, and are no state', async () => {
  const records: JournalRecord[] = [];
  const metadata: JsonObject[] = [];
  const traces: (JsonObject | undefined)[] = [];
  const traceContext = { traceparent: '00-1-2-01' };
  const interceptor: Interceptor = {
    propagateContext: () => traceContext,
    observe: (step, observed) => {
      records.push(...step.records);
      if (observed.invocationId !== undefined) metadata.push(observed.metadata);
      if (observed.invocationId !== undefined) traces.push(observed.traceContext);
    },
    interceptCall: async (call, next) => {
      traces.push(call.traceContext);
      return next();
    },
  };
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model: callingModel('note'), tools: [noteTool([])] })],
    interceptors: [interceptor],
  });
  const session = await runtime.session('s');
  const sent = { ticket: 7 };
  const turn = session.send('One.', { metadata: sent });
  // A later change by the sender changes nothing.
  sent.ticket = 8;
  await finish(turn);
  assert.ok(metadata.length > 2 && traces.length > 5);
  for (const one of metadata) assert.deepEqual(one, { ticket: 7 });
  for (const one of traces) assert.deepEqual(one, traceContext);
  assert.ok(records.every((record) => !('t' in record) || record.t !== 'state.persist'));
  const journaled = JSON.stringify(records);
  assert.equal(journaled.split('"ticket":7').length - 1, 2, 'in the message and the conversation');
  assert.ok(!journaled.includes('temp:'));
});

test('a called agent gets the run config and the custom metadata of its caller', async () => {
  const seen: ToolMetadata[] = [];
  const helper = agent({ name: 'helper', model: callingModel('note'), tools: [noteTool(seen)] });
  const boss: Agent = agent({
    name: 'boss',
    model: callingModel('helper', { request: 'Help.' }),
    tools: [agentTool(helper)],
  });
  await using runtime = await openRuntime({ agents: [boss] });
  const session: Session = await runtime.session('s');
  const sent = { runConfig: { maxLlmCalls: 4 }, metadata: { ticket: 7 } };
  const types = await finish(session.send('Go.', sent));
  assert.deepEqual(seen, [sent]);
  assert.ok(types.includes('turn.ended') && !types.includes('error'));
});

test('a message that is sent as a signal keeps its metadata and gets a trace context', async () => {
  const seen: ToolMetadata[] = [];
  const traces: unknown[] = [];
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model: callingModel('note'), tools: [noteTool(seen)] })],
    interceptors: [
      {
        propagateContext: () => ({ trace: 1 }),
        interceptCall: async (call, next) => {
          traces.push(call.traceContext);
          return next();
        },
      },
    ],
  });
  const session = await runtime.session('s');
  const message = {
    messageId: 'm',
    invocationId: 'e-m',
    content: { role: 'user', parts: [{ text: 'Go.' }] },
    metadata: { custom: { ticket: 7 } },
  };
  await session.inject('user.in', message, { dedupeKey: 'm' });
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(seen, [{ runConfig: {}, metadata: { ticket: 7 } }]);
  assert.deepEqual(traces, [{ trace: 1 }, { trace: 1 }, { trace: 1 }]);
});

test('a message in the form of 0.1.0 has its metadata in temporary state', async () => {
  const seen: ToolMetadata[] = [];
  const traces: unknown[] = [];
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model: callingModel('note'), tools: [noteTool(seen)] })],
    interceptors: [
      {
        interceptCall: async (call, next) => {
          traces.push(call.traceContext);
          return next();
        },
      },
    ],
  });
  const session = await runtime.session('s');
  const message = {
    messageId: 'm',
    invocationId: 'e-m',
    content: { role: 'user', parts: [{ text: 'Go.' }] },
    stateDelta: { 'temp:run_config': { maxLlmCalls: 1 }, 'temp:carried': { trace: 1 } },
  };
  await session.inject('user.in', message, { dedupeKey: 'm' });
  const codes: string[] = [];
  for await (const event of session.events()) {
    if (event.type === 'error') codes.push(event.code);
    if (event.type === 'turn.ended') break;
  }
  assert.deepEqual(seen, [{ runConfig: { maxLlmCalls: 1 }, metadata: {} }]);
  assert.deepEqual(traces, [{ trace: 1 }, { trace: 1 }]);
  assert.deepEqual(codes, ['llm_calls_limit_exceeded']);
  // The next turn is not limited: the keys were removed with the turn.
  assert.ok(!(await finish(session.send('Again.'))).includes('error'));
  assert.deepEqual(seen.at(-1), { runConfig: {}, metadata: {} });
});

test('metadata that are no JSON object are refused with the name of the option', async () => {
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model: new ScriptedModel([]) })],
  });
  const session = await runtime.session('s');
  const list = [1] as unknown as JsonObject;
  assert.throws(() => session.send('Hi', { runConfig: list }), {
    code: 'invalid_input',
    message: /runConfig.*object/s,
  });
  assert.throws(() => session.send('Hi', { metadata: list }), {
    code: 'invalid_input',
    message: /metadata.*object/s,
  });
  const map = { seen: new Map() } as unknown as JsonObject;
  assert.throws(() => session.send('Hi', { metadata: map }), /^NotSerializableError: metadata/);
  assert.equal((await session.status()).lastSeq, 0);
});
