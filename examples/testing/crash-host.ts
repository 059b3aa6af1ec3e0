/** A process that runs one turn and is killed before a commit. crash.test.ts starts it. */
import { appendFileSync } from 'node:fs';
import { agent, openRuntime, tool } from 'petrichor';
import { openSqliteStore } from 'petrichor/store';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const [, , folder = '', crashAtCommit = '0'] = process.argv;

// The tool under test: it charges a card, and the "provider" is a file with one line per request.
const charge = tool({
  name: 'charge',
  description: 'Charges a card',
  parameters: z.object({ cents: z.number().int() }),
  idempotent: true, // the provider ignores a second request with the same key
  execute: ({ cents }, { firingId }) =>
    appendFileSync(`${folder}/charges.txt`, `${firingId} ${cents}\n`),
});
const model = new ScriptedModel([
  { toolCalls: [{ name: 'charge', args: { cents: 500 } }] },
  { text: 'Charged.' },
]);

let commits = 0;
const store = await openSqliteStore(`${folder}/test.db`, {
  failpoints: {
    beforeCommit: () => {
      if (++commits === Number(crashAtCommit)) process.kill(process.pid, 'SIGKILL');
    },
  },
});
const runtime = await openRuntime({
  agents: [agent({ name: 'cashier', model, tools: [charge] })],
  store,
});
const session = await runtime.session('crash');
await session.send('Charge 5.', { messageId: 'm1' }).accepted; // sent again after a crash, it counts once
for await (const event of session.events()) if (event.type === 'turn.ended') break;
await runtime.close();
await store.close();
