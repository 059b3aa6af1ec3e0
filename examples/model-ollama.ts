/** A model on this machine, through Ollama. With OLLAMA_API_KEY set (to anything) it asks yours; without, a server here. */
import assert from 'node:assert/strict';
import { agent, openRuntime } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { openStandIn } from '../test/models/wire/stand-in.ts';
import { ollamaWire } from '../test/models/wire/wire-formats.ts';

await using place = await openStandIn('qwen3', ollamaWire, [
  { error: { kind: 'overloaded', retryAfterMs: 20 } }, // the session tries again: its retries are in the log
  { text: 'Because of Rayleigh scattering.' },
]);

const model = await resolveModel(place.ref, { env: place.env });
const assistant = agent({ name: 'assistant', model, instruction: 'One sentence.' });

await using runtime = await openRuntime({ agents: [assistant] });
const session = await runtime.session('demo');
const types: string[] = [];
for await (const event of session.send('Why is the sky blue?')) {
  types.push(event.type);
  if (event.type === 'partial') process.stdout.write(event.text);
}

assert.ok(types.includes('agent.message'));
if (place.isScripted) assert.ok(types.includes('model.attempt'));
