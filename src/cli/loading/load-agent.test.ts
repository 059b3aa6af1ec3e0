import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { AgentModuleError, type AgentModuleProblem } from './agent-module-error.ts';
import { loadAgent } from './load-agent.ts';

function load(source: string, name?: string): ReturnType<typeof loadAgent> {
  const folder = new CommandFolder();
  folder.write('agent.ts', source);
  return loadAgent({ file: 'agent.ts', cwd: folder.path, name });
}

async function refused(
  source: string,
  problem: AgentModuleProblem,
  says: RegExp,
  name?: string,
): Promise<AgentModuleError> {
  const error: unknown = await load(source, name).catch((caught: unknown) => caught);
  assert.ok(error instanceof AgentModuleError);
  assert.equal(error.problem, problem);
  assert.match(error.message, says);
  return error;
}

const twin = `${agentSource}\nexport const twin = agent({ name: 'twin', model });`;

test('an agent is found by whatever name it is exported', async () => {
  assert.equal((await load(agentSource)).name, 'assistant');
});

test('an agent exported by default is found, and once when it has a name too', async () => {
  assert.equal((await load(`${agentSource}\nexport default assistant;`)).name, 'assistant');
});

test('of several agents the named one is taken', async () => {
  assert.equal((await load(twin, 'twin')).name, 'twin');
});

test('several agents without a choice are refused by their names', async () => {
  const { found } = await refused(
    twin,
    'several_agents',
    /exports 2 agents: assistant, twin\. Choose one with --agent NAME\./,
  );
  assert.deepEqual(found, ['assistant', 'twin']);
});

test('a name that no agent has is refused with the names there are', async () => {
  await refused(
    twin,
    'not_found',
    /exports no agent "third"\. Its agents are: assistant, twin\./,
    'third',
  );
});

test('a module without an agent is refused with what it exports', async () => {
  const source = `export const name = 'x';\nexport function start() {}\nexport default [null];`;
  const says =
    /exports no agent, but default \(array\), name \(string\), start \(function\)\. Export what agent\(/;
  await refused(source, 'no_agent', says);
  await refused('export {};', 'no_agent', /exports no agent, but nothing\./);
});

test('a module that throws is refused with its own words, and keeps the cause', async () => {
  const error = await refused(
    `throw new Error('No API key.');`,
    'failed',
    /could not be loaded: No API key\.$/,
  );
  assert.ok(error.cause instanceof Error);
});

test('a file that is not there is said to be missing', async () => {
  const { path } = new CommandFolder();
  await assert.rejects(loadAgent({ file: 'no.ts', cwd: path }), {
    code: 'agent_module',
    problem: 'missing',
  });
});
