/**
 * Any server that speaks OpenAI's chat completions: say where it is. With OPENAI_COMPATIBLE_API_KEY and
 * OPENAI_COMPATIBLE_BASE_URL it asks yours; without, a server here.
 */
import assert from 'node:assert/strict';
import { agent, openRuntime } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { openStandIn } from '../test/models/wire/stand-in.ts';
import { openaiCompatibleWire } from '../test/models/wire/wire-formats.ts';

await using place = await openStandIn(
  { provider: 'openai_compatible', model: 'any-model' },
  openaiCompatibleWire,
  [{ text: 'Hello from here.' }],
);

const model = await resolveModel(place.ref, { env: place.env });
const greeter = agent({ name: 'greeter', model, config: { temperature: 0, seed: 7 } });

await using runtime = await openRuntime({ agents: [greeter] });
const session = await runtime.session('demo');
const answer = await session.ask('Hello?');
console.log(answer);
if (place.isScripted) assert.equal(answer, 'Hello from here.');
