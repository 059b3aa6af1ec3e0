/** OpenAI, one call at a time. With OPENAI_API_KEY it asks OpenAI; without, a server here that talks like it. */
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import { z } from 'zod';
import { openaiResponsesWire } from '../test/models/wire/openai-responses-wire.ts';
import { openStandIn } from '../test/models/wire/stand-in.ts';

await using place = await openStandIn('gpt-5-mini', openaiResponsesWire, [
  { toolCalls: [{ name: 'convert', args: { celsius: 24 } }] },
  { text: 'That is 75 degrees.' },
]);

const convert = tool({
  name: 'convert',
  description: 'Converts degrees Celsius to Fahrenheit.',
  // Optional for us. OpenAI's strict mode has no such word: it is told "or null", and its nulls do not arrive here.
  parameters: z.object({ celsius: z.number(), digits: z.number().int().optional() }),
  readOnly: true,
  execute: ({ celsius, digits = 0 }) => ({ fahrenheit: (celsius * 1.8 + 32).toFixed(digits) }),
});

const assistant = agent({
  name: 'assistant',
  model: place.ref, // 'gpt-5-mini', or the address of the server here
  tools: [convert],
  config: { thinking: { effort: 'low' }, parallelToolCalls: false, maxOutputTokens: 2000 },
});

await using runtime = await openRuntime({ agents: [assistant], models: { env: place.env } });
const session = await runtime.session('demo');
const results: unknown[] = [];
for await (const event of session.send('How much is 24 degrees Celsius in Fahrenheit?')) {
  if (event.type === 'tool.result') results.push(event.response);
  if (event.type === 'partial') process.stdout.write(event.text);
}

if (place.isScripted) assert.deepEqual(results, [{ fahrenheit: '75' }]);
