/** Tests of a tool that needs approval. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const paid: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays an invoice',
  parameters: z.object({ cents: z.number().int() }),
  needsApproval: ({ cents }) => cents > 1000,
  execute: ({ cents }) => void paid.push(cents),
});
const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { toolCalls: [{ name: 'pay', args: { cents: 5000 } }] }
    : { text: 'Done.' },
);
const cashier = agent({ name: 'cashier', model, tools: [pay] });

test('a large payment waits, and is made once when it is approved', async () => {
  paid.length = 0;
  await using runtime = await openRuntime({ agents: [cashier] });
  const session = await runtime.session('test');

  for await (const _ of session.send('Pay it.')); // ends with turn.waiting
  const [call] = await session.pending();
  assert.equal(call?.name, 'pay');
  assert.deepEqual(call.args, { cents: 5000 });
  assert.deepEqual(paid, []);

  for await (const _ of session.approve(call.id, { fingerprint: call.fingerprint }));
  assert.deepEqual(paid, [5000]);
  await assert.rejects(session.approve(call.id).accepted, { code: 'already_answered' });
});

test('a denied payment is not made, and the model learns why', async () => {
  paid.length = 0;
  await using runtime = await openRuntime({ agents: [cashier] });
  const session = await runtime.session('test');

  for await (const _ of session.send('Pay it.'));
  const [call] = await session.pending();
  for await (const event of session.deny(call?.id ?? '', { message: 'Too much.' }))
    if (event.type === 'tool.result') assert.equal(event.outcome, 'denied');
  assert.deepEqual(paid, []);
  assert.match(JSON.stringify(model.requests.at(-1)?.contents), /Too much\./);
});
