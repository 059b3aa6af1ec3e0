/** A picture in a message. With ANTHROPIC_API_KEY it asks Anthropic; without, a server here that talks like it. */
import assert from 'node:assert/strict';
import { agent, content, openRuntime } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { anthropicWire } from '../test/models/wire/anthropic-wire.ts';
import { openStandIn } from '../test/models/wire/stand-in.ts';

await using place = await openStandIn('claude-sonnet-4-5', anthropicWire, [
  { text: 'A single red pixel.' },
]);

const critic = agent({
  name: 'critic',
  model: await resolveModel(place.ref, { env: place.env }),
  instruction: 'Say what you see, in one sentence.',
});

const redPixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);
const message = content('user').text('What is this?').inlineData('image/png', redPixel).build();

await using runtime = await openRuntime({ agents: [critic] });
const session = await runtime.session('demo');
const answer = await session.ask(message);
console.log(answer);
if (place.isScripted) assert.equal(answer, 'A single red pixel.');
