import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { UnknownAgentError } from '../session/runtime-errors.ts';
import { openRuntime } from '../open-runtime.ts';
import type { AgentSource } from './agent-source.ts';

const made: string[] = [];

async function findAgent(name: string): Promise<Agent | undefined> {
  if (!name.startsWith('greeter')) return undefined;
  made.push(name);
  return agent({ name, model: new ScriptedModel(() => ({ text: `I am ${name}.` })) });
}

/** A source that finds every agent whose name begins with `greeter`. */
const greeters: AgentSource = { open: async () => ({ agents: [], find: findAgent }) };

test('a source finds an agent by name when a session needs it', async () => {
  await using runtime = await openRuntime({ agents: [greeters] });
  const session = await runtime.session('s', { agent: 'greeter-2' });
  const requestedNames: string[] = [];
  for await (const event of session.send('Hi')) {
    if (event.type === 'agent.message') requestedNames.push(event.author);
  }
  assert.deepEqual(requestedNames, ['greeter-2']);
  assert.ok(made.includes('greeter-2'));
  await assert.rejects(runtime.session('t', { agent: 'nobody' }), UnknownAgentError);
});

test('a message sent before the runtime started is answered by an agent that a source finds', async () => {
  const store = new MemoryStore();
  const first = await openRuntime({ agents: [greeters], store });
  await first.session('s', { agent: 'greeter-1' });
  await first.close();
  const value = {
    messageId: 'm',
    invocationId: 'e-m',
    content: { role: 'user', parts: [{ text: 'Hi' }] },
  };
  const key = { appName: 'petrichor', userId: 'default', sessionId: 's' };
  await store.inject(key, { place: 'user.in', value }, 'message:m');
  await using second = await openRuntime({ agents: [greeters], store });
  const session = await second.find('s');
  const types: string[] = [];
  for await (const event of session?.events() ?? []) {
    types.push(event.type);
    if (event.type === 'turn.ended') break;
  }
  assert.deepEqual(
    types.filter((type) => type !== 'partial'),
    ['user.message', 'turn.started', 'agent.message', 'turn.ended'],
  );
});

test('a called agent is found by its own name, and two different ones must not have one name', async () => {
  const helper = (text: string): Agent =>
    agent({ name: 'helper', model: new ScriptedModel(() => ({ text })) });
  const caller = (name: string, called: Agent): Agent =>
    agent({ name, model: new ScriptedModel([]), tools: [agentTool(called)] });
  const shared = helper('shared');
  await using runtime = await openRuntime({
    agents: [caller('one', shared), caller('two', shared), shared],
  });
  assert.equal(runtime.agents.get('helper'), shared);
  await assert.rejects(
    openRuntime({ agents: [caller('one', helper('a')), caller('two', helper('b'))] }),
    { code: 'invalid_input', message: /two agents are named "helper"/ },
  );
});

test('the hooks of a source see the sessions of agents that its agents call, and no others', async () => {
  const seen: string[] = [];
  const called = agent({ name: 'helper', model: new ScriptedModel(() => ({ text: 'Yes.' })) });
  const caller = (name: string): Agent =>
    agent({
      name,
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.parts.some((part) => 'functionResponse' in part) === true
          ? { text: 'Done.' }
          : { toolCalls: [{ name: 'helper', args: { request: '?' } }] },
      ),
      tools: [agentTool(called)],
    });
  const source = (name: string): AgentSource => ({
    open: async () => ({
      agents: [caller(name)],
      interceptors: [{ observe: (_, session) => seen.push(`${name}: ${session.agent.name}`) }],
    }),
  });
  await using runtime = await openRuntime({ agents: [source('one'), source('two')] });
  await (await runtime.session('s', { agent: 'one' })).ask('Hi');
  assert.deepEqual([...new Set(seen)].toSorted(), ['one: helper', 'one: one']);
});

test('the error of a runtime with several agents and none chosen shows how to choose one', async () => {
  const model = new ScriptedModel([{ text: 'Hi' }]);
  const agents = ['billing', 'shipping'].map((name) => agent({ name, model }));
  await using runtime = await openRuntime({ agents });
  await assert.rejects(runtime.session('s'), {
    code: 'unknown_agent',
    message: "The runtime has several agents: billing, shipping. Choose one: { agent: 'billing' }.",
  });
  await assert.rejects(runtime.session('s', { agent: 'shiping' }), /Did you mean "shipping"\?/);
});
