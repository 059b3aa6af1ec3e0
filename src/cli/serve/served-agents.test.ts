import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadServedAgents } from './served-agents.ts';

const folder = mkdtempSync(join(tmpdir(), 'petrichor-served-'));
after(() => rmSync(folder, { recursive: true }));

const refused = async (file: string, source: string, message: RegExp): Promise<void> => {
  writeFileSync(join(folder, file), source);
  await assert.rejects(loadServedAgents(file, folder), { code: 'agent_module', message });
};

test('a file without an agent to serve is rejected with an instruction', async () => {
  await refused('none.mjs', 'export default 1;', /exports no agents to serve\. Export a list/);
  await refused('one.mjs', 'export const agents = {};', /agents, which must be a list of agents/);
  await refused('tools.mjs', 'export const agents = [], tools = 1;', /tools, which must be a list/);
  await refused('resolver.mjs', 'export const agents = [], resolver = 1;', /resolver, which must/);
  await refused('broken.json', '[', /could not be read/);
});

test('an agent() and a tool() are recognized where data is expected', async () => {
  const shop = `{ name: 'shop', readStatus() {}, compiled: {} }`;
  const cost = `{ name: 'shipping_cost', parse() {}, execute() {} }`;
  await refused('default.mjs', `export default ${shop};`, /exports an agent\(\), .* as data/);
  await refused(
    'agent.mjs',
    `export const agents = [{}, ${shop}];`,
    /agents\[1\], which is an agent\(\)\. A served agent is a definition as data/,
  );
  await refused(
    'tool.mjs',
    `export const agents = [{ tools: [${cost}] }];`,
    /agents\[0\]\.tools\[0\], which is a tool\(\)\. Export the tool in `tools`, and name it with \{ type: 'builtin', name: 'shipping_cost' \}/,
  );
});

test('a .json file can have one agent, a list, or a list named agents', async () => {
  for (const [index, text] of [
    '{"name":"A"}',
    '[{"name":"A"}]',
    '{"agents":[{"name":"A"}]}',
  ].entries()) {
    writeFileSync(join(folder, `${index}.json`), text);
    assert.deepEqual((await loadServedAgents(`${index}.json`, folder)).agents, [{ name: 'A' }]);
  }
});
