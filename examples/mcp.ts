/** Tools of an MCP server: files in one folder. What only reads runs at once, what writes over something waits for a yes. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agent, openRuntime } from 'petrichor';
import { openMcpToolset } from 'petrichor/mcp';
import { ScriptedModel } from 'petrichor/testing';

const folder = await mkdtemp(join(tmpdir(), 'petrichor-mcp-'));
const path = join(folder, 'note.txt');

const server = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
);

// `await using` ends the server with this block, and a kill of this program ends it too.
await using files = await openMcpToolset({
  name: 'files',
  command: process.execPath,
  args: [server, folder],
  prefix: 'files_',
  tools: ['write_file', 'read_text_file', 'list_directory'],
});

// A model that needs no key: it writes, reads what it wrote, and says so.
const model = new ScriptedModel([
  { toolCalls: [{ name: 'files_write_file', args: { path, content: 'Rain on dry ground.' } }] },
  { toolCalls: [{ name: 'files_read_text_file', args: { path } }] },
  { text: 'It is written.' },
]);
const clerk = agent({ name: 'clerk', model, tools: [files] });

await using runtime = await openRuntime({ agents: [clerk] });
const session = await runtime.session('desk');

for await (const event of session.send('Keep a note, please.')) {
  if ('seq' in event) console.log(event.seq, event.type);
}
const [call] = await session.pending();
assert.equal(call?.name, 'files_write_file');
assert.equal(call.needs, 'approval');

for await (const event of session.approve(call.id)) {
  if (!('seq' in event)) continue;
  console.log(event.seq, event.type);
  if (event.type === 'tool.result') assert.equal(event.outcome, 'ok');
}
assert.equal(await readFile(path, 'utf8'), 'Rain on dry ground.');
await rm(folder, { recursive: true });
