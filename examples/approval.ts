/** A tool call that waits for approval. The wait is stored: run the program again, and the same session continues. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { agent, openRuntime, tool } from 'petrichor';
import type { LogEvent, PartialEvent } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

// Calls the tool, then reports the result.
const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { text: 'I will.', toolCalls: [{ name: 'delete_file', args: { path: 'a.txt' } }] }
    : { text: 'Done.' },
);

const deleteFile = tool({
  name: 'delete_file',
  description: 'Delete a file',
  parameters: z.object({ path: z.string() }),
  needsApproval: true,
  execute: ({ path }) => rm(path),
});

const assistant = agent({ name: 'assistant', model, tools: [deleteFile] });

await writeFile('a.txt', 'A file that is no longer needed.');
const runtime = await openRuntime({ agents: [assistant], store: 'sqlite:petrichor.db' });
const session = await runtime.session('approval');

// The loop ends when the session is idle or waits for an approval.
for await (const event of session.send('Delete a.txt')) print(event);
assert.ok(existsSync('a.txt'));

for (const call of await session.pending()) {
  console.log('approve:', call.name, call.args);
  const turn = session.approve(call.id, { fingerprint: call.fingerprint });
  for await (const event of turn) print(event);
}
assert.ok(!existsSync('a.txt'));
await runtime.close();

function print(event: LogEvent | PartialEvent): void {
  if ('seq' in event) console.log(`${event.seq} ${event.type}`);
}
