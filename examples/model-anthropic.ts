/** Anthropic, with the long instruction cached. With ANTHROPIC_API_KEY it asks Anthropic; without, a server here. */
import assert from 'node:assert/strict';
import { agent, openRuntime } from 'petrichor';
import { resolveModel } from 'petrichor/models';
import { anthropicWire } from '../test/models/wire/anthropic-wire.ts';
import { openStandIn } from '../test/models/wire/stand-in.ts';

const counted = { inputTokens: 2010, outputTokens: 9, totalTokens: 2019 };
await using place = await openStandIn('claude-sonnet-4-5', anthropicWire, [
  { text: 'Article 1 says: be kind.', usage: { ...counted, cacheWriteTokens: 2000 } },
  { text: 'Article 2 says: be brief.', usage: { ...counted, cacheReadTokens: 2000 } },
]);

const lawyer = agent({
  name: 'lawyer',
  model: await resolveModel(place.ref, { env: place.env }),
  instruction: `Answer from this law. ${'Article 1: be kind. Article 2: be brief. '.repeat(200)}`,
  config: { cache: { prefix: 'instruction', retention: 'long' }, maxOutputTokens: 500 },
});

await using runtime = await openRuntime({ agents: [lawyer] });
const session = await runtime.session('demo');
const cached: number[] = [];
for (const question of ['What does article 1 say?', 'And article 2?']) {
  for await (const event of session.send(question)) {
    if (event.type === 'partial') process.stdout.write(event.text);
    if (event.type === 'turn.ended') cached.push(event.usage?.cacheReadTokens ?? 0);
  }
}
console.log('\nTokens read from the cache:', cached);

if (place.isScripted) assert.deepEqual(cached, [0, 2000]);
