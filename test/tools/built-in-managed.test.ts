import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { builtInSource, Environments } from '../../src/tools/built-in/index.ts';
import { noSandboxReason, sandboxFolder } from './sandbox-folder.ts';

// Awaited before any test is registered; otherwise registered tests would end and clean up during
// this wait.
const noSandbox = await noSandboxReason();

const definition = {
  name: 'builder',
  model: 'gemini-2.5-flash',
  tools: [{ type: 'bash' }, { type: 'filesystem' }],
};
const owner = { userId: 'ann' };

async function runAndCollectResults(
  runtime: ManagedRuntime,
  id: string,
): Promise<readonly unknown[]> {
  await runtime.sendEvent(id, { type: 'user.message', content: [{ type: 'text', text: 'Go.' }] });
  const found: unknown[] = [];
  for await (const event of runtime.streamLog(id, 0)) {
    if (event.type === 'tool.result') found.push(event.response);
    if (event.type === 'turn.ended') break;
  }
  return found;
}

test(
  'the built-in tools of a managed session use its environment',
  { skip: noSandbox },
  async () => {
    using root = sandboxFolder('managed');
    const model = new ScriptedModel([
      { toolCalls: [{ name: 'bash', args: { command: 'echo "$MOOD" > mood.txt; pwd' } }] },
      { toolCalls: [{ name: 'read', args: { file_path: 'mood.txt' } }] },
      { text: 'Done.' },
    ]);
    await using runtime = await openManagedRuntime({
      resolver: async () => model,
      builtIns: builtInSource({ environments: new Environments({ root: root.path }) }),
    });
    const { id: agent } = await runtime.create(definition);
    const environment = { env: { MOOD: 'wet' }, workingFolder: 'project' };
    const { id } = await runtime.startSession(agent, owner, { environment });
    assert.deepEqual(await runAndCollectResults(runtime, id), [
      { stdout: '/workspace\n', stderr: '', exit_code: 0 },
      { content: 'wet', first_line: 1, last_line: 1, total_lines: 1 },
    ]);
  },
);

test('a managed session with an unsupported environment is rejected', async () => {
  using root = sandboxFolder('managed');
  const environments = new Environments({ root: root.path, variables: ['MOOD'] });
  await using runtime = await openManagedRuntime({
    resolver: async () => new ScriptedModel([]),
    builtIns: builtInSource({ environments }),
  });
  const { id: agent } = await runtime.create(definition);
  for (const [field, environment] of [
    ['environment.workingFolder', { workingFolder: '../elsewhere' }],
    ['environment.env.OTHER', { env: { OTHER: 'x' } }],
    ['environment.env', { env: { MOOD: 'x' }, selfHosted: true }],
  ] as const) {
    await assert.rejects(runtime.startSession(agent, owner, { environment }), {
      code: 'invalid_input',
      field,
    });
  }
});

test('an agent with a tool whose service is missing is rejected', async () => {
  using root = sandboxFolder('managed');
  await using runtime = await openManagedRuntime({
    resolver: async () => new ScriptedModel([]),
    builtIns: builtInSource({ environments: new Environments({ root: root.path }) }),
  });
  const withTool = (type: string): object => ({ ...definition, tools: [{ type }] });
  await assert.rejects(runtime.create(withTool('web_fetch')), {
    code: 'invalid_input',
    field: 'webFetch',
  });
  await assert.rejects(runtime.create(withTool('web_search')), {
    code: 'invalid_input',
    field: 'webSearch',
  });
});
