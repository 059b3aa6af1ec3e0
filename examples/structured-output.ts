/** An answer as JSON of a schema. With GEMINI_API_KEY it asks Gemini; without, a server here that talks like it. */
import assert from 'node:assert/strict';
import { agent, openRuntime, contentText } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { toJsonSchema } from 'petrichor/tools';
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
  // Of zod, valibot or arktype; the provider is told it in the words it reads.
  config: { responseSchema: toJsonSchema(Invoice, 'Invoice') },
});

await using runtime = await openRuntime({ agents: [reader] });
const session = await runtime.session('demo');
for await (const event of session.send('From the tailor: one coat, 30 euros.')) {
  if (event.type !== 'agent.message') continue;
  const invoice = Invoice.parse(JSON.parse(contentText(event.content)));
  console.log(invoice.seller, invoice.total);
  assert.equal(invoice.items.length, 1);
}
