/** A signal that is not a message: a payment arrives by webhook, is booked once, and nobody speaks. */
import assert from 'node:assert/strict';
import { agent, openRuntime } from 'petrichor';
import { sessionWrite } from 'petrichor/agents';
import { allOf, net, place, pure } from 'petrichor/net';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

// A place that takes tokens from outside. Its schema is the check, the journal's codec and the type.
const received = place(
  'payment.received',
  z.object({ order: z.string(), cents: z.number().int() }),
  {
    environment: true,
    version: 1,
  },
);

// What the session does with one, as a net of its own that joins the agent's by a port.
const payments = net('payments', {
  in: { received },
  out: { sessionWrite },
  transitions: [
    pure('payment.book', {
      take: { received },
      give: allOf({ write: sessionWrite }),
      run: ({ received: { order, cents } }) => ({
        write: { writes: { set: { lastOrder: order }, increment: { paidCents: cents } } },
      }),
    }),
  ],
});

const model = new ScriptedModel([]);
const shop = agent({ name: 'shop', model, extensions: [payments] });

await using runtime = await openRuntime({ agents: [shop] });
const session = await runtime.session('customer-7');

const payment = { order: 'A-1', cents: 4200 };
const first = await session.inject(received, payment, { dedupeKey: 'webhook-31' });
const again = await session.inject(received, payment, { dedupeKey: 'webhook-31' });
assert.deepEqual([first.duplicate, again.duplicate], [false, true]);

for await (const event of session.events()) {
  assert.equal(event.type, 'state.changed');
  if (event.type === 'state.changed') {
    assert.deepEqual(event.delta, { lastOrder: 'A-1', paidCents: 4200 });
    break;
  }
}

// What does not fit the place is refused before anything is written, and so is a place that is not there.
await assert.rejects(session.inject(received, { order: 7 }, { dedupeKey: 'x' }), {
  code: 'token_schema',
});
await assert.rejects(session.inject('payment.refund', {}, { dedupeKey: 'x' }), {
  code: 'unknown_place',
});
console.log('Booked once: 42.00 for order A-1.');
