/** Inspection: what each record of a session did, the tokens at any record, and what the model was asked. */
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const stock = tool({
  name: 'stock',
  description: 'Counts the books in stock.',
  parameters: z.object({ title: z.string() }),
  execute: () => ({ copies: 3 }),
});
const model = new ScriptedModel([
  { toolCalls: [{ name: 'stock', args: { title: 'Emma' } }] },
  { text: 'We have three copies.' },
]);
const clerk = agent({ name: 'clerk', model, tools: [stock], instruction: 'Sell books.' });

await using runtime = await openRuntime({ agents: [clerk] });
const session = await runtime.session('demo');
for await (const _ of session.send('Do you have Emma?'));

for await (const { record, step, kind, transition, taken, given } of session.records())
  console.log(
    record,
    `step ${step}`,
    kind,
    transition ?? '',
    taken.map(({ place, count }) => `-${count} ${place}`).join(' '),
    given.map(({ place, count }) => `+${count} ${place}`).join(' '),
  );

const calls: number[] = [];
for await (const { record, kind, transition } of session.records(0, { values: 'none' }))
  if (kind === 'started' && transition === 'model.call') calls.push(record);

const [first = 0] = calls;
const { places, firings } = await session.markingAt(first);
console.log('in flight:', firings, 'tokens:', places['turn.current']);
assert.equal(firings[0]?.transition, 'model.call');

const { request, mayDiffer } = await session.modelRequest(first);
assert.deepEqual(request, model.requests[0]);
console.log('the model was asked:', request.contents, 'not in the journal:', mayDiffer);

const net = await session.net();
const { x = 0, y = 0 } = net.layout.transitions['model.call'] ?? {};
console.log(`${net.places.length} places; model.call is at ${x}, ${y}`);

for await (const { upTo, step, record } of session.forkPoints())
  console.log(`fork({ upTo: ${upTo} }) copies ${step} steps, ${record} records`);
