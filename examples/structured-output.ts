/** An answer as JSON of a schema. With GEMINI_API_KEY it asks Gemini; without, a server here that talks like it. */
import assert from 'node:assert/strict';
import { agent, openRuntime } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { z } from 'zod';
import { geminiWire } from '../test/models/wire/gemini-wire.ts';
import { openStandIn } from '../test/models/wire/stand-in.ts';

const Invoice = z.object({
  seller: z.string(),
  total: z.number(),
  items: z.array(z.object({ name: z.string(), price: z.number() })),
});

await using place = await openStandIn('gemini-3-flash-preview', geminiWire, [
  { text: '{"seller":"Tailor","total":30,"items":[{"name":"Coat","price":30}]}' },
]);

const reader = agent({
  name: 'reader',
  model: await resolveModel(place.ref, { env: place.env }),
  instruction: 'Read the invoice.',
});

await using runtime = await openRuntime({ agents: [reader] });
const session = await runtime.session('demo');
const question = 'From the tailor: one coat, 30 euros.';
// A schema of zod, valibot or arktype. The provider gets it in the form that it reads.
const invoice = await session.ask(question, { output: Invoice });
console.log(invoice.seller, invoice.total);
assert.equal(invoice.items.length, 1);
