import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
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
