import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  App,
  BasePlugin,
  BaseToolset,
  contentText,
  LlmAgent,
  SequentialAgent,
} from '../../src/adk/index.ts';
import type { BaseAgent } from '../../src/adk/index.ts';
import { agent } from '../../src/agents/index.ts';
import type { Content } from '../../src/core/index.ts';
import { manageRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ModelRequest } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Interceptor } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

class OrderTools extends BaseToolset {
  isClosed = false;

  constructor() {
    super('orders');
  }

  override async getTools(): Promise<readonly Tool[]> {
    return [tool({ name: 'cancel', description: 'Cancels.', execute: () => 'canceled' })];
  }

  override async close(): Promise<void> {
    this.isClosed = true;
  }
}

class CountingPlugin extends BasePlugin {
  readonly agents: string[] = [];
  readonly observed: string[] = [];
  isClosed = false;

  constructor() {
    super('counting');
  }

  override readonly interceptor = {
    observe: (_: unknown, session: { readonly agent: { readonly name: string } }): void => {
      this.observed.push(session.agent.name);
    },
  };

  override async beforeModelCallback({
    callbackContext,
  }: Parameters<BasePlugin['beforeModelCallback']>[0]): Promise<undefined> {
    this.agents.push(callbackContext.agentName);
  }

  override async close(): Promise<void> {
    this.isClosed = true;
  }
}

function helpful(requests: ModelRequest[] = []): ScriptedModel {
  return new ScriptedModel((request) => {
    requests.push(request);
    const last = request.contents.at(-1)?.parts ?? [];
    return last.some((part) => 'functionResponse' in part)
      ? { text: 'Canceled.' }
      : { toolCalls: [{ name: 'cancel', args: {} }] };
  });
}

test('a runtime runs an app beside other agents, and closes its toolsets and plugins', async () => {
  const tools = new OrderTools();
  const plugin = new CountingPlugin();
  const rootAgent = new LlmAgent({ name: 'clerk', model: helpful(), tools: [tools] });
  const app = new App({ name: 'shop', rootAgent, plugins: [plugin] });
  const greeter = agent({ name: 'greeter', model: new ScriptedModel(() => ({ text: 'Hello.' })) });
  const runtime = await openRuntime({ agents: [app, greeter] });
  assert.deepEqual([...runtime.agents.keys()], ['shop', 'greeter']);
  const session = await runtime.session('s', { agent: 'shop' });
  assert.equal(await session.ask('Cancel it.'), 'Canceled.');
  const other = await runtime.session('t', { agent: 'greeter' });
  assert.equal(await other.ask('Hi'), 'Hello.');
  const authors: string[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'agent.message') authors.push(event.author);
  assert.deepEqual(authors, ['clerk', 'clerk']);
  assert.deepEqual(plugin.agents, ['clerk', 'clerk']);
  // The hooks of an app see its own sessions only.
  assert.deepEqual([...new Set(plugin.observed)], ['shop']);
  assert.equal(tools.isClosed, false);
  await runtime.close();
  assert.deepEqual([tools.isClosed, plugin.isClosed], [true, true]);
});

test('an app is managed by its name, and its description names its tools', async () => {
  const rootAgent = new LlmAgent({ name: 'clerk', model: helpful(), tools: [new OrderTools()] });
  await using runtime = await openRuntime({ agents: [new App({ name: 'shop', rootAgent })] });
  const managed = await manageRuntime(runtime);
  const found = await managed.getAgent('agent_shop');
  assert.ok(found.source === 'code');
  assert.deepEqual(
    found.description.tools.map(({ name }) => name),
    ['cancel'],
  );
  const { id } = await managed.startSession('agent_shop', { userId: 'ana' });
  await managed.pause(id);
  await managed.sendEvent(id, {
    type: 'user.message',
    content: [{ type: 'text', text: 'Cancel it.' }],
  });
  await managed.resume(id);
  for await (const event of managed.streamLog(id, 0)) if (event.type === 'turn.ended') break;
  assert.equal(await managed.status(id), 'idle');
});

test('the models of an app are resolved by the options of the runtime', async () => {
  const names: unknown[] = [];
  const rootAgent = new LlmAgent({ name: 'clerk', model: 'gemini-2.5-flash' });
  await using runtime = await openRuntime({
    agents: [new App({ name: 'shop', rootAgent })],
    models: async (ref) => {
      names.push(ref);
      return new ScriptedModel(() => ({ text: 'Yes.' }));
    },
  });
  const session = await runtime.session('s');
  assert.equal(await session.ask('?'), 'Yes.');
  assert.deepEqual(names, [{ provider: 'gemini', model: 'gemini-2.5-flash' }]);
});

test('a callback that only a Runner calls is refused by name, and nothing is opened', async () => {
  class Greeting extends BasePlugin {
    constructor() {
      super('greeting');
    }

    override async beforeRunCallback(): Promise<undefined> {}
  }
  const tools = new OrderTools();
  const rootAgent = new LlmAgent({ name: 'clerk', model: helpful(), tools: [tools] });
  const app = new App({ name: 'shop', rootAgent, plugins: [new Greeting()] });
  const store = new MemoryStore();
  await assert.rejects(openRuntime({ agents: [app], store }), {
    code: 'invalid_input',
    message:
      /plugins.*"greeting" has beforeRunCallback, which only a Runner calls: .* or answer in beforeAgentCallback\.$/,
  });
  assert.equal(tools.isClosed, false);
});

test('what to use instead of the callbacks of a Runner works in a runtime', async () => {
  const ended: (string | undefined)[] = [];
  class Greeting extends BasePlugin {
    constructor() {
      super('greeting');
    }

    override readonly interceptor: Interceptor = {
      observe: ({ events }) => {
        for (const event of events) if (event.type === 'turn.ended') ended.push(event.invocationId);
      },
    };

    override async beforeAgentCallback({
      callbackContext,
    }: Parameters<BasePlugin['beforeAgentCallback']>[0]): Promise<Content | undefined> {
      const isGreeting = contentText(callbackContext.userContent) === 'Hi';
      return isGreeting ? { role: 'model', parts: [{ text: 'Welcome.' }] } : undefined;
    }

    override async beforeModelCallback({
      llmRequest,
    }: Parameters<BasePlugin['beforeModelCallback']>[0]): Promise<undefined> {
      llmRequest.contents = [{ role: 'user', parts: [{ text: 'Replaced.' }] }];
    }
  }
  const model = new ScriptedModel(({ contents }) => ({ text: contentText(contents.at(-1)) }));
  const rootAgent = new LlmAgent({ name: 'clerk', model });
  const app = new App({ name: 'shop', rootAgent, plugins: [new Greeting()] });
  await using runtime = await openRuntime({ agents: [app] });
  const session = await runtime.session('s');
  assert.equal(await session.ask('Hi'), 'Welcome.');
  assert.equal(await session.ask('Something else'), 'Replaced.');
  assert.equal(ended.length, 2);
});

test('the answer of an app has the schema that the sender of a message asks for', async () => {
  const model = new ScriptedModel(({ config }) => ({
    text: config?.responseSchema === undefined ? 'Seven.' : '{"total":7}',
  }));
  const rootAgent = new LlmAgent({ name: 'clerk', model });
  await using runtime = await openRuntime({ agents: [new App({ name: 'shop', rootAgent })] });
  const session = await runtime.session('s');
  const output = { type: 'object', properties: { total: { type: 'number' } } } as const;
  assert.deepEqual(await session.ask('How much?', { output }), { total: 7 });
  const turn = session.send('How much?', { output, messageId: 'm' });
  assert.equal(await turn.text(), '{"total":7}');
  const again = session.send('How much?', { output, messageId: 'm' });
  const { inputSeq } = await turn.receipt;
  assert.deepEqual(await again.receipt, { inputSeq, duplicate: true });
  assert.equal(await session.ask('How much?'), 'Seven.');
});

test('a source that fails to open closes those that were opened before it', async () => {
  const tools = new OrderTools();
  const rootAgent = new LlmAgent({ name: 'clerk', model: helpful(), tools: [tools] });
  const failing = { open: async () => Promise.reject(new Error('No agents.')) };
  await assert.rejects(
    openRuntime({ agents: [new App({ name: 'shop', rootAgent }), failing] }),
    /No agents\./,
  );
  assert.equal(tools.isClosed, true);
});

test('an app with an agent below itself is refused with the path to it', async () => {
  const steps: BaseAgent[] = [];
  const inner = new SequentialAgent({ name: 'inner', subAgents: steps });
  const rootAgent = new SequentialAgent({ name: 'outer', subAgents: [inner] });
  steps.push(rootAgent);
  await assert.rejects(openRuntime({ agents: [new App({ name: 'shop', rootAgent })] }), {
    code: 'invalid_input',
    field: 'subAgents',
    message:
      /"inner" contains "outer", which is above it: outer > inner > outer\. Remove it there\./,
  });
});
