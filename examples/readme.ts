import { rm, writeFile } from 'node:fs/promises';
import { agent, openRuntime, tool } from 'petrichor';
import type { LogEvent, PartialEvent } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

// A model that needs no key: it asks for the tool, and then says so.
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

const assistant = agent({
  name: 'assistant',
  model,
  instruction: 'Be brief.',
  tools: [deleteFile],
});

await writeFile('a.txt', 'Nobody needs this.');
const runtime = await openRuntime({ agents: [assistant], store: 'sqlite:petrichor.db' });
const session = await runtime.session('demo', { agent: 'assistant' }); // new, or the one a crash left behind, already going on

for await (const event of session.send('Delete a.txt')) print(event); // ends when the session is idle or waits for someone
for (const call of await session.pending()) {
  for await (const event of session.approve(call.id)) print(event);
}
await runtime.close();

function print(event: LogEvent | PartialEvent): void {
  if (event.type === 'partial') process.stdout.write(event.text);
  else if ('seq' in event) console.log(`\n${event.seq} ${event.type}`);
}
