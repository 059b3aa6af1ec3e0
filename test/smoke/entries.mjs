/**
 * A smoke test of the built package for other runtimes and versions: imports every entry that needs
 * no optional peer, and runs one turn with a tool on the memory store. Plain JavaScript, so that any
 * runtime runs it as it is. Run `npm run build` first.
 */
import assert from 'node:assert/strict';

const entries = [
  '../../dist/index.js',
  '../../dist/core/index.js',
  '../../dist/net/index.js',
  '../../dist/verify/index.js',
  '../../dist/models/index.js',
  '../../dist/tools/index.js',
  '../../dist/agents/index.js',
  '../../dist/runtime/index.js',
  '../../dist/adk/index.js',
  '../../dist/managed/index.js',
  '../../dist/client/index.js',
  '../../dist/testing/index.js',
];
for (const entry of entries) {
  const names = Object.keys(await import(entry));
  assert.ok(names.length > 0, `${entry} exports nothing`);
}

const { agent, openRuntime, tool } = await import('../../dist/index.js');
const { ScriptedModel } = await import('../../dist/testing/index.js');
let calls = 0;
const assistant = agent({
  name: 'assistant',
  model: new ScriptedModel([{ toolCalls: [{ name: 'count', args: {} }] }, { text: 'Done.' }]),
  tools: [tool({ name: 'count', description: 'Counts its calls', execute: () => ++calls })],
});
const runtime = await openRuntime({ agents: [assistant], store: 'memory:' });
const session = await runtime.session('smoke', { agent: 'assistant' });
const types = [];
for await (const event of session.send('Count.')) if ('seq' in event) types.push(event.type);
await runtime.close();
assert.equal(calls, 1);
assert.ok(types.includes('tool.result'), types.join());
console.log(`${entries.length} entries and one turn: ok`);
