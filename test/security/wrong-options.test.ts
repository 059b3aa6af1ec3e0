import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, custom, loop, parallel, sequential, workflow } from '../../src/agents/index.ts';
import { InvalidInputError } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { InvalidToolError, tool } from '../../src/tools/index.ts';

const model = new ScriptedModel([]);
const execute = (): string => 'done';
const helper = agent({ name: 'helper', model });

// Calls without types, as JavaScript does, so that the compiler does not reject wrong values.
const makeTool = (options: unknown): unknown => tool(options as never);
const makeAgent = (options: unknown): unknown => agent(options as never);
const agentWith = (options: object): unknown => makeAgent({ name: 'a', model, ...options });
const toolWith = (options: object): unknown =>
  makeTool({ name: 't', description: 'Works.', execute, ...options });

const wrongTools: readonly (readonly [options: object, message: RegExp])[] = [
  [{ name: undefined }, /its name must be 1 to 64 .*; it is missing\./],
  [{ name: 5 }, /its name must .* it is 5\./],
  [{ name: 'a b' }, /its name must .* it is "a b"\./],
  [{ description: undefined }, /its description must be a text .* it is missing\./],
  [{ description: 5 }, /its description .* it is 5\./],
  [{ onCrash: 'retry' }, /its onCrash must be 'rerun', 'unknown' or 'ask'; it is "retry"\./],
  [{ needsApproval: 'yes' }, /its needsApproval must be true, false, or a function .* it is "yes"/],
  [{ needsApproval: 1 }, /its needsApproval .* it is 1\./],
  [{ needsApproval: Promise.resolve(false) }, /its needsApproval .* it is a promise\./],
  [{ execute: 'x' }, /its execute must be a function, or left out; it is "x"\./],
  [{ execute: null }, /its execute .* it is null\./],
];

for (const [options, message] of wrongTools) {
  test(`tool rejects a wrong value: ${message.source}`, () => {
    assert.throws(
      () => toolWith(options),
      (error) => error instanceof InvalidToolError && message.test(error.message),
    );
  });
}

const nameOrModel =
  /must be a model with a generate function, a name such as 'gpt-5', or \{ provider, model \}/;

const wrongOptions: readonly (readonly [call: () => unknown, field: string, message: RegExp])[] = [
  [() => makeTool(undefined), 'tool', /needs an object with its options; it is missing/],
  [() => makeTool([]), 'tool', /it is a list/],
  [() => makeAgent(undefined), 'agent', /needs an object with its options; it is missing/],
  [() => makeAgent('a'), 'agent', /it is "a"/],
  [() => makeAgent({ model }), 'name', /it is missing/],
  [() => agentWith({ name: 5 }), 'name', /it is 5/],
  [() => agentWith({ model: undefined }), 'model', /of agent "a" .* it is missing/],
  [() => agentWith({ model: undefined }), 'model', nameOrModel],
  [() => agentWith({ model: '' }), 'model', /it is ""/],
  [() => agentWith({ model: 5 }), 'model', nameOrModel],
  [() => agentWith({ model: Promise.resolve(model) }), 'model', /it is a promise/],
  [
    () => agentWith({ model: Promise.resolve(model) }),
    'model',
    /Await it: resolveModel is asynchronous/,
  ],
  [() => agentWith({ model: { name: 'm' } }), 'model', /generate function, .*; it is an object/],
  [() => agentWith({ fallbackModels: model }), 'fallbackModels', /must be a list/],
  [() => agentWith({ fallbackModels: [5] }), 'fallbackModels[0]', nameOrModel],
  [() => agentWith({ instruction: 5 }), 'instruction', /it is 5/],
  [() => agentWith({ instruction: ['Hi', {}] }), 'instruction[1]', /it is an object/],
  [() => agentWith({ globalInstruction: null }), 'globalInstruction', /it is null/],
  [() => agentWith({ tools: {} }), 'tools', /must be a list .* it is an object/],
  [() => agentWith({ tools: [undefined] }), 'tools[0]', /it is missing/],
  [
    () => agentWith({ tools: [{ name: 't', description: 'Works.', execute }] }),
    'tools[0]',
    /it is an object\. Wrap a definition in tool\(\)/,
  ],
  [() => agentWith({ tools: [helper] }), 'tools[0]', /an agent in agentTool\(\)/],
  [() => agentWith({ tools: [Promise.resolve()] }), 'tools[0]', /it is a promise\. Await it/],
  [() => agentWith({ subAgents: helper }), 'subAgents', /Write subAgents: \[agent\]/],
  [() => agentWith({ subAgents: [{ name: 'b', model }] }), 'subAgents[0]', /with agent\(\)/],
  ...[sequential, parallel, loop].flatMap((make) => [
    [() => make(undefined as never), make.name, /it is missing/] as const,
    [() => make({ subAgents: [helper] } as never), 'name', /it is missing/] as const,
    [() => make({ name: 'a' } as never), 'subAgents', /it is missing/] as const,
    [() => make({ name: 'a', subAgents: [5] } as never), 'subAgents[0]', /it is 5/] as const,
  ]),
  [() => custom(undefined as never), 'custom', /it is missing/],
  [() => custom({ run: execute } as never), 'name', /it is missing/],
  [() => custom({ name: 'a', subAgents: {} } as never), 'subAgents', /it is an object/],
  [() => workflow(undefined as never), 'workflow', /it is missing/],
  [() => workflow({ nodes: [], edges: [] } as never), 'name', /it is missing/],
  [async () => openRuntime(undefined as never), 'openRuntime', /it is missing/],
  [async () => openRuntime({} as never), 'agents', /must be a list of agents; it is missing/],
  [async () => openRuntime({ agents: helper } as never), 'agents', /Write agents: \[agent\]/],
  [
    async () => openRuntime({ agents: [{ name: 'a', model }] } as never),
    'agents[0]',
    /Create it with agent\(\)/,
  ],
  [
    async () => openRuntime({ agents: [helper, Promise.resolve(helper)] } as never),
    'agents[1]',
    /it is a promise\. Await it/,
  ],
];

for (const [call, field, message] of wrongOptions) {
  test(`a missing or wrong value is rejected: ${field}, ${message.source}`, async () => {
    await assert.rejects(
      async () => call(),
      (error) =>
        error instanceof InvalidInputError && error.field === field && message.test(error.message),
    );
  });
}

test('a long wrong value is cut in the message', () => {
  assert.throws(
    () => toolWith({ onCrash: 'x'.repeat(1000) }),
    (error) => error instanceof InvalidToolError && error.message.length < 200,
  );
});

for (const needsApproval of [
  async () => false,
  async () => {
    throw new Error('no');
  },
]) {
  test('a call whose needsApproval returns a promise gets an error and does not run', async () => {
    let ran = false;
    const wipe = makeTool({
      name: 'wipe',
      description: 'Wipes.',
      needsApproval,
      execute: () => (ran = true),
    }) as ReturnType<typeof tool>;
    const caller = agent({
      name: 'a',
      model: new ScriptedModel([{ toolCalls: [{ name: 'wipe' }] }, { text: 'Done.' }]),
      tools: [wipe],
    });
    await using runtime = await openRuntime({ agents: [caller] });
    const outcomes: unknown[] = [];
    const session = await runtime.session('s1');
    for await (const event of session.send('Go'))
      if (event.type === 'tool.result')
        outcomes.push(event.outcome, JSON.stringify(event.response));
    assert.equal(outcomes[0], 'error');
    assert.match(String(outcomes[1]), /needsApproval of tool \\"wipe\\" returned a promise/);
    assert.equal(ran, false);
  });
}
