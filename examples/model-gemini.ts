/** Gemini, with its thinking shown. With GEMINI_API_KEY it asks Google; without, a server here that talks like it. */
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { z } from 'zod';
import { geminiWire } from '../test/models/wire/gemini-wire.ts';
import { openStandIn } from '../test/models/wire/stand-in.ts';

const calls = [{ name: 'weather', args: { city: 'Rome' } }];
await using place = await openStandIn('gemini-3-flash-preview', geminiWire, [
  { thinking: 'I need the weather.', thoughtSignature: 'c2VhbGVk', toolCalls: calls },
  { text: 'Rome is sunny, 24 degrees.' },
]);

const weather = tool({
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  readOnly: true,
  execute: ({ city }) => ({ city, sky: 'sunny', celsius: 24 }),
});

const assistant = agent({
  name: 'assistant',
  model: await resolveModel(place.ref, { env: place.env }),
  tools: [weather],
  config: { thinking: { effort: 'low', show: true } },
});

await using runtime = await openRuntime({ agents: [assistant] });
const session = await runtime.session('demo');
const shown = { thinking: '', text: '', progress: '' };
const types: string[] = [];
for await (const event of session.send('What is the weather in Rome?')) {
  types.push(event.type);
  if (event.type === 'partial') shown[event.kind] += event.text;
}
console.log(shown.thinking, '\n', shown.text);

assert.ok(types.includes('turn.ended'));
if (place.isScripted) {
  assert.equal(shown.thinking, 'I need the weather.');
  assert.equal(shown.text, 'Rome is sunny, 24 degrees.');
}
