/** An agent with two tools. One call waits for approval: run the program again to approve it. */
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const findOrder = tool({
  name: 'find_order',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  readOnly: true,
  execute: ({ order }) => {
    console.log(`find_order ${order}`);
    return { order, cents: 4200 };
  },
});
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.string(), cents: z.number().int() }),
  needsApproval: true,
  execute: ({ order, cents }) => {
    console.log(`refund ${order} ${cents}`);
    return { refunded: cents };
  },
});

const model = new ScriptedModel([
  { toolCalls: [{ name: 'find_order', args: { order: 'A-7' } }] },
  { toolCalls: [{ name: 'refund', args: { order: 'A-7', cents: 4200 } }] },
  { text: 'I refunded 42.00 for A-7.' },
]);
const desk = agent({ name: 'desk', model, tools: [findOrder, refund] });
const runtime = await openRuntime({ agents: [desk], store: 'sqlite:petrichor.db' });
const session = await runtime.session('A-7');

const [call] = await session.pending();
const turn =
  call === undefined
    ? session.send('Refund order A-7.')
    : session.approve(call.id, { fingerprint: call.fingerprint });
for await (const event of turn) {
  if (event.type === 'partial') console.log(`text: ${event.text}`);
}
for (const { name, args } of await session.pending())
  console.log(`waits: ${name} ${JSON.stringify(args)}`);
await runtime.close();
