/** Two runtimes on one SQLite file: one runs the session, the other approves its call, and only one answer counts. */
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const paid: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays an amount.',
  parameters: z.object({ cents: z.number().int() }),
  needsApproval: ({ cents }) => cents > 1000,
  execute: ({ cents }) => {
    paid.push(cents);
  },
});
const model = new ScriptedModel([
  { toolCalls: [{ name: 'pay', args: { cents: 4200 } }] },
  { text: 'Paid.' },
]);
const cashier = agent({ name: 'cashier', model, tools: [pay] });
const store = 'sqlite:approve-elsewhere.db';

await using here = await openRuntime({ agents: [cashier], store });
const session = await here.session(`invoice-${Date.now()}`);
for await (const event of session.send('Pay the invoice.')) {
  if (event.type === 'turn.waiting') console.log(`waits for ${event.callIds.length} approval`);
}
assert.deepEqual(paid, []);

// Elsewhere: another runtime, as in another process, finds the same call with the same arguments.
await using elsewhere = await openRuntime({ agents: [cashier], store });
const found = await elsewhere.find(session.id);
const [call] = (await found?.pending()) ?? [];
assert.deepEqual(call?.args, { cents: 4200 });

const types: string[] = [];
for await (const event of found?.approve(call.id, { fingerprint: call.fingerprint }) ?? []) {
  if ('seq' in event) types.push(event.type);
}
assert.deepEqual(types.slice(-3), ['tool.result', 'agent.message', 'turn.ended']);
assert.deepEqual(paid, [4200]);

// The first answer stands, wherever the second comes from.
await assert.rejects(session.approve(call.id).accepted, { code: 'already_answered' });
console.log('Approved elsewhere, paid once.');
