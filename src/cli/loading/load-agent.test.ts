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
  expectMessage: RegExp,
  name?: string,
): Promise<AgentModuleError> {
  const error: unknown = await load(source, name).catch((caught: unknown) => caught);
  assert.ok(error instanceof AgentModuleError);
  assert.equal(error.problem, problem);
  assert.match(error.message, expectMessage);
  return error;
}

const twin = `${agentSource}\nexport const twin = agent({ name: 'twin', model });`;

test('an agent is found under any export name', async () => {
  assert.equal((await load(agentSource)).name, 'assistant');
});

test('a default export is found, and listed once if it also has a name', async () => {
  assert.equal((await load(`${agentSource}\nexport default assistant;`)).name, 'assistant');
});

test('of several agents the named one is loaded', async () => {
  assert.equal((await load(twin, 'twin')).name, 'twin');
});

test('several agents without a name are rejected with their names', async () => {
  const { found } = await refused(
    twin,
    'several_agents',
    /exports 2 agents: assistant, twin\. Choose one with --agent NAME\./,
  );
  assert.deepEqual(found, ['assistant', 'twin']);
});

test('an unknown agent name is rejected with the known names', async () => {
  await refused(
    twin,
    'not_found',
    /exports no agent "third"\. Its agents are: assistant, twin\./,
    'third',
  );
});

test('a module without an agent is rejected with its exports', async () => {
  const source = `export const name = 'x';\nexport function start() {}\nexport default [null];`;
  const expectMessage =
    /exports no agent, but default \(array\), name \(string\), start \(function\)\. Export what agent\(/;
  await refused(source, 'no_agent', expectMessage);
  await refused('export {};', 'no_agent', /exports no agent, but nothing\./);
});

const adk = new URL('../../adk/index.ts', import.meta.url).href;
const adkSource = `
import { App, LlmAgent } from '${adk}';
${agentSource.replace('export const assistant', 'const plain')}
export const rootAgent = new LlmAgent({ name: 'root', model, subAgents: [new LlmAgent({ name: 'clerk', model })] });
`;

test('an ADK agent is loaded as an app, and an ADK app as its net', async () => {
  const root = await load(adkSource);
  assert.ok(root.compiled.hash);
  const app = `${adkSource}\nexport const app = new App({ name: 'desk', rootAgent });`;
  assert.ok(
    (await load(app)).compiled.hash,
    'the root agent of an exported app is not another agent',
  );
  await refused(
    `${adkSource}\nexport const other = new LlmAgent({ name: 'other', model });`,
    'several_agents',
    /exports 2 agents: other, root\./,
  );
});

test('an export that cannot be read is no agent, and an agent that is its own sub-agent is rejected', async () => {
  const lazy = `export const lazy = { get name() { throw new Error('No key.'); } };`;
  assert.equal((await load(`${agentSource}\n${lazy}`)).name, 'assistant');
  await refused(lazy, 'no_agent', /but lazy \(object\)\. lazy cannot be read: No key\. Export/);
  await refused(
    `${agentSource}\n${lazy}`,
    'not_found',
    /Its agents are: assistant\. lazy cannot be read: No key\.$/,
    'lazy',
  );
  await refused(
    `import { LlmAgent } from '${adk}';
     ${agentSource.replace('export const assistant', 'const plain')}
     const subAgents = [];
     export const root = new LlmAgent({ name: 'root', model, subAgents });
     subAgents.push(root);`,
    'failed',
    /exports root, which has an agent that is its own sub-agent: root > root\./,
  );
});

test('a module that throws is rejected with its error as cause', async () => {
  const error = await refused(
    `throw new Error('No API key.');`,
    'failed',
    /could not be loaded: No API key\.$/,
  );
  assert.ok(error.cause instanceof Error);
});

test('a syntax error is reported with its file and line', async () => {
  await refused(
    `const ready = true;\nenum Size { Small }`,
    'failed',
    /could not be loaded: .*enum.*, at \/.*agent\.ts:2$/,
  );
});

test('a missing file is reported as missing', async () => {
  const { path } = new CommandFolder();
  await assert.rejects(loadAgent({ file: 'no.ts', cwd: path }), {
    code: 'agent_module',
    problem: 'missing',
  });
});
