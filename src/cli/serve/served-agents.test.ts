import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { App } from '../../adk/index.ts';
import { loadServedAgents, type ServedAgents } from './served-agents.ts';

const folder = mkdtempSync(join(tmpdir(), 'petrichor-served-'));
after(() => rmSync(folder, { recursive: true }));

const load = async (file: string, source: string): Promise<ServedAgents> => {
  writeFileSync(join(folder, file), source);
  return loadServedAgents(file, folder);
};

const refused = async (file: string, source: string, message: RegExp): Promise<void> => {
  writeFileSync(join(folder, file), source);
  await assert.rejects(loadServedAgents(file, folder), { code: 'agent_module', message });
};

test('a file without an agent to serve is rejected with its exports and what to export', async () => {
  await refused(
    'none.mjs',
    'export default 1; export const start = () => {}; export const tools = [];',
    /exports no agents to serve, but default \(number\), start \(function\)\. Export what agent\(\{ … \}\) returns, an ADK App or agent, or a definition as data/,
  );
  await refused('one.mjs', 'export const agents = {};', /agents, which must be a list of agents/);
  await refused('tools.mjs', 'export const agents = [], tools = 1;', /tools, which must be a list/);
  await refused('resolver.mjs', 'export const agents = [], resolver = 1;', /resolver, which must/);
  await refused('broken.json', '[', /could not be read/);
  await refused('text.json', '"A"', /agents, which must be a list/);
});

const shop = (name = 'shop'): string => `{ name: '${name}', readStatus() {}, compiled: {} }`;
const adkAgent = (name: string, subAgents = ''): string =>
  `{ name: '${name}', subAgents: [${subAgents}], compile() {} }`;

test('every agent that a module exports is served, alone or in a list, whatever made it', async () => {
  const served = await load(
    'mixed.mjs',
    `const greeter = { name: 'Greeter', model: 'gpt-5' };
     export default greeter;
     export const first = ${shop('One')};
     export const agents = [greeter, first, { name: 'Other', model: 'gpt-5' }];
     export const helper = ${adkAgent('helper')};
     export const rootAgent = { ...${adkAgent('root')}, subAgents: [helper] };
     export const desk = { name: 'desk', rootAgent: ${adkAgent('front')} };
     export const settings = { name: 'a name', retries: 3 };
     export const texts = ['a', 'b'];
     export const tools = [];
     export const resolver = () => {};`,
  );
  assert.deepEqual(
    served.definitions.map(({ label, value }) => [label, (value as { name: string }).name]),
    [
      ['agents[0]', 'Greeter'],
      ['agents[2]', 'Other'],
    ],
  );
  assert.deepEqual(
    served.code.map(({ id, kind }) => [id, kind]),
    [
      ['agent_one', 'agent'],
      ['agent_desk', 'app'],
      ['agent_root', 'app'],
    ],
  );
  assert.deepEqual([served.tools, typeof served.resolver], [[], 'function']);
  const root = served.code.find(({ id }) => id === 'agent_root');
  assert.ok(root?.source instanceof App, 'an ADK agent gets an app');
  assert.equal(root.source.name, 'root');
});

test('an export with a name and a model that is no definition is left out with a reason', async () => {
  const served = await load(
    'foreign.mjs',
    `export const greeter = { name: 'Greeter', model: 'gpt-5' };
     export const config = { name: 'cheap', model: 'gpt-5-mini', temperature: 0.2 };
     export const ref = { name: 'cheap', provider: 'openai', model: 'gpt-5-mini' };
     export const client = { name: 'cheap', model: 'gpt-5-mini', call() {} };`,
  );
  assert.deepEqual(
    served.definitions.map(({ label }) => label),
    ['greeter'],
  );
  assert.deepEqual(
    served.leftOut.map(({ label }) => label),
    ['client', 'config', 'ref'],
  );
  const reasons = served.leftOut.map(({ reason }) => reason);
  assert.match(reasons[0] ?? '', /is no definition of an agent: it has a method `call`\.$/);
  assert.match(reasons[1] ?? '', /is no definition of an agent: config\.temperature: is unknown/);
  await refused(
    'only.mjs',
    `export const config = { name: 'cheap', model: 'gpt-5-mini', temperature: 0.2 };`,
    /exports no agents to serve, but config \(object\)\. config has a name and a model, but is no/,
  );
  const misspelled = await load(
    'misspelled.mjs',
    `export const greeter = { name: 'Greeter', model: 'gpt-5', instruction: 'Greet.' };`,
  );
  assert.deepEqual(
    [misspelled.definitions.length, misspelled.leftOut],
    [1, []],
    'a misspelled definition is reported when it is registered',
  );
});

test('an export that throws when it is read is left out, and in a list of agents it is an error', async () => {
  const boom = `get name() { throw new Error('No key.'); }`;
  const served = await load(
    'throws.mjs',
    `export const greeter = { name: 'Greeter', model: 'gpt-5' };
     export const lazy = { ${boom} };
     export const odd = new Proxy({}, { get() { throw 5; } });`,
  );
  assert.deepEqual(
    served.definitions.map(({ label }) => label),
    ['greeter'],
  );
  assert.deepEqual(served.leftOut, [
    { label: 'lazy', reason: 'cannot be read: No key.' },
    { label: 'odd', reason: 'cannot be read: it threw 5.' },
  ]);
  await refused(
    'throws-alone.mjs',
    `export const lazy = { ${boom} };`,
    /exports no agents to serve, but lazy \(object\)\. lazy cannot be read: No key\. Export what/,
  );
  await refused(
    'throws-listed.mjs',
    `export const agents = [{ ${boom} }];`,
    /exports agents\[0\], which cannot be read: No key\./,
  );
  await refused(
    'throws-deep.mjs',
    `export const agents = [{ name: 'Greeter', model: 'gpt-5', get system() { throw new Error('No key.'); } }];`,
    /exports agents\[0\], which cannot be read: No key\./,
  );
});

test('an ADK agent that is its own sub-agent is rejected, alone and in an app', async () => {
  const cycle = `const sub = ${adkAgent('sub')}; const root = { ...${adkAgent('root')}, subAgents: [sub] };
     sub.subAgents.push(root);`;
  await refused(
    'cycle.mjs',
    `${cycle} export { root };`,
    /exports root, which has an agent that is its own sub-agent: root > sub > root\. Remove it from/,
  );
  await refused(
    'cycle-app.mjs',
    `${cycle} export const desk = { name: 'desk', rootAgent: ${adkAgent('front', 'root')} };`,
    /exports desk, which has an agent that is its own sub-agent: root > sub > root\./,
  );
  const shared = await load(
    'shared.mjs',
    `const leaf = ${adkAgent('leaf')}; const odd = null;
     export const one = { ...${adkAgent('one')}, subAgents: [leaf, odd] };
     export const two = { ...${adkAgent('two')}, subAgents: [leaf] };`,
  );
  assert.deepEqual(
    shared.code.map(({ id }) => id),
    ['agent_one', 'agent_two'],
    'a shared sub-agent is no cycle',
  );
});

test('an empty list is served: clients can create agents', async () => {
  const { definitions, code } = await load('empty.mjs', 'export const agents = [];');
  assert.deepEqual([definitions, code], [[], []]);
});

test('two agents with one id are rejected with their exports', async () => {
  await refused(
    'twice.mjs',
    `export const first = ${shop('Desk 1')}; export const agents = [{ name: 'desk-1', model: 'gpt-5' }];`,
    /exports two agents with the id "agent_desk-1": agents\[0\] and first \("Desk 1"\)\. Rename one of them\./,
  );
});

test('a value that is no agent among agents is rejected by its place', async () => {
  await refused(
    'list.mjs',
    `export const desks = [${shop()}, 'tools'];`,
    /exports desks\[1\] \(string\), which is no agent\. Export what agent/,
  );
  await refused('null.mjs', `export const agents = [null];`, /agents\[0\] \(null\), which is no/);
});

test('an ADK agent whose name no app can have is rejected with its export', async () => {
  await refused(
    'user.mjs',
    `export const rootAgent = ${adkAgent('user')};`,
    /exports rootAgent, an ADK agent that cannot be an app: .*"user".* Export an App with another name\./,
  );
});

test('a tool() is recognized where data is expected', async () => {
  const cost = `{ name: 'shipping_cost', parse() {}, execute() {} }`;
  await refused(
    'tool.mjs',
    `export const clerk = { name: 'Clerk', model: 'gpt-5', tools: [${cost}] };`,
    /clerk\.tools\[0\], which is a tool\(\)\. Export the tool in `tools`, and name it with \{ type: 'builtin', name: 'shipping_cost' \}/,
  );
});

test('a .json file can have one agent, a list, or a list named agents', async () => {
  for (const [index, text] of [
    '{"name":"A"}',
    '[{"name":"A"}]',
    '{"agents":[{"name":"A"}]}',
  ].entries()) {
    writeFileSync(join(folder, `${index}.json`), text);
    const { definitions } = await loadServedAgents(`${index}.json`, folder);
    assert.deepEqual(definitions, [{ label: 'agents[0]', value: { name: 'A' } }]);
  }
});
