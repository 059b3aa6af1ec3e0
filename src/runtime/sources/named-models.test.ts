import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { agent, agentTool, sequential } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import { ModelNotResolvedError, ScriptedModel, UnknownModelError } from '../../models/index.ts';
import type { Model, ModelSpec } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';

const KEY = 'sk-test-abcdefghijkl';

/** A resolver of scripted models, and the references that it was asked for. */
function scriptedResolver(): {
  readonly models: (ref: ModelSpec) => Promise<Model>;
  readonly asked: string[];
} {
  const asked: string[] = [];
  return {
    asked,
    models: async ({ model }) => {
      asked.push(model);
      return new ScriptedModel(() => ({ text: `I am ${model}.` }));
    },
  };
}

const assistant = (): Agent => agent({ name: 'assistant', model: 'gpt-5' });

test('a runtime resolves the model that an agent names, once', async () => {
  const { models, asked } = scriptedResolver();
  await using runtime = await openRuntime({ agents: [assistant()], models });
  const session = await runtime.session('x');
  assert.equal(await session.ask('Who are you?'), 'I am gpt-5.');
  assert.equal(await session.ask('And now?'), 'I am gpt-5.');
  assert.deepEqual(asked, ['gpt-5']);
});

test('sub-agents, called agents and fallback models can be named too, by a name or in full', async () => {
  const { models, asked } = scriptedResolver();
  const ref = { provider: 'openai_compatible', model: 'mine', baseUrl: 'http://127.0.0.1:1' };
  const called = agent({ name: 'called', model: 'claude-sonnet-4-5' });
  const root = sequential({
    name: 'root',
    subAgents: [
      agent({ name: 'a', model: 'gpt-5', fallbackModels: ['gemini-2.5-flash'] }),
      agent({
        name: 'b',
        model: { ...ref, provider: 'openai_compatible' },
        tools: [agentTool(called)],
      }),
    ],
  });
  await using runtime = await openRuntime({ agents: [root], models });
  assert.deepEqual(asked.toSorted(), ['claude-sonnet-4-5', 'gemini-2.5-flash', 'gpt-5', 'mine']);
  assert.equal(await (await runtime.session('x')).ask('Who?'), 'I am mine.');
});

test('a missing key is an error when the runtime is opened, with the agent, the model and the variable', async () => {
  await assert.rejects(openRuntime({ agents: [assistant()], models: { env: {} } }), (error) => {
    assert.ok(error instanceof ModelNotResolvedError);
    assert.equal(error.code, 'model_not_resolved');
    assert.deepEqual([error.agent, error.model], ['assistant', 'openai/gpt-5']);
    assert.match(error.message, /"assistant".*"openai\/gpt-5".*Set OPENAI_API_KEY/);
    return true;
  });
});

test('an error of the resolver is an error when the runtime is opened, and no session is touched', async () => {
  const store = new MemoryStore();
  const models = async (): Promise<never> => {
    throw new Error('No such deployment.');
  };
  await assert.rejects(
    openRuntime({ agents: [assistant()], models, store }),
    /"assistant" names the model "openai\/gpt-5": No such deployment\./,
  );
  // @ts-expect-error a text is no resolver
  await assert.rejects(openRuntime({ agents: [assistant()], models: 'gpt-5' }), InvalidInputError);
});

test('an agent that a source finds is checked when its session is opened', async () => {
  await using runtime = await openRuntime({
    agents: [{ open: async () => ({ agents: [], find: async () => assistant() }) }],
    models: { env: {} },
  });
  await assert.rejects(runtime.session('x', { agent: 'assistant' }), ModelNotResolvedError);
});

test('keys come from the environment when the runtime is opened; the net, prints and the log have none', async () => {
  const seen: unknown[] = [];
  const fetch = async (_: unknown, init?: { readonly headers?: unknown }): Promise<Response> => {
    seen.push(new Headers({ ...(init?.headers as object) }).get('authorization'));
    return new Response('{"error":{"message":"no"}}', { status: 401 });
  };
  const named = agent({
    name: 'assistant',
    model: { provider: 'openai', model: 'gpt-5', apiKey: KEY },
  });
  await using runtime = await openRuntime({ agents: [named], models: { env: {}, fetch } });
  const session = await runtime.session('x');
  await assert.rejects(session.ask('?'), { stopReason: 'error' });
  assert.deepEqual(seen, [`Bearer ${KEY}`]);
  const log: unknown[] = [];
  for await (const event of session.events(0, { follow: false })) log.push(event);
  const shown = [inspect(named, { depth: 20, showHidden: true }), JSON.stringify([named, log])];
  assert.ok(shown.every((text) => !text.includes(KEY)));
});

test('an agent has the same net with a named model and with a model', () => {
  const model = new ScriptedModel([]);
  assert.equal(assistant().compiled.hash, agent({ name: 'assistant', model }).compiled.hash);
});

test('a name of an unknown provider is refused when the agent is made, with the name of the agent', () => {
  assert.throws(
    () => agent({ name: 'assistant', model: 'grok-4' }),
    (error) => {
      assert.ok(error instanceof UnknownModelError);
      assert.match(error.message, /^Agent "assistant": .*"grok-4" is unknown/);
      return true;
    },
  );
  // @ts-expect-error the provider is unknown
  assert.throws(() => agent({ name: 'a', model: { provider: 'grok', model: 'x' } }), {
    field: 'model.provider',
  });
});
