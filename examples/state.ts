/** State: what a session keeps, what a user's sessions share, and writes that merge instead of being lost. */
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import type { LogEvent, Session } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const visit = tool({
  name: 'visit',
  description: 'Notes a visit to a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, { state }) => {
    const before = state.get('user:visits') ?? 0;
    state.set('lastCity', city); // this session only
    state.increment('user:visits'); // all sessions of the user; merges with what others add meanwhile
    state.append('user:cities', city);
    state.set('temp:unsaid', city); // gone when the turn ends
    return { visitsBefore: before };
  },
});

// Two calls in one answer: they run at once and both write the same keys.
const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { toolCalls: ['Rome', 'Oslo'].map((city) => ({ name: 'visit', args: { city } })) }
    : { text: 'Noted.' },
);
const guide = agent({
  name: 'guide',
  model,
  tools: [visit],
  instruction: ({ state }) => `Visits so far: ${JSON.stringify(state['user:visits'] ?? 0)}`,
});

await using runtime = await openRuntime({ agents: [guide] });
await travel(await runtime.session('first', { user: 'ada' }));
await travel(await runtime.session('second', { user: 'ada' })); // sees what the first one wrote
await travel(await runtime.session('first', { user: 'bob' })); // another user, another session

const ada = await runtime.store.shared({ appName: runtime.app, userId: 'ada' });
assert.deepEqual(ada.entries, {
  'user:visits': 4,
  'user:cities': ['Rome', 'Oslo', 'Rome', 'Oslo'],
});
const instructions = model.requests.map(({ instruction }) => instruction?.match(/\d+/)?.[0]);
assert.deepEqual(instructions, ['0', '2', '2', '4', '0', '2']);
console.log(ada.entries);

async function travel(session: Session): Promise<void> {
  const results: LogEvent[] = [];
  for await (const event of session.send('Two cities, please.')) {
    if (event.type === 'tool.result') results.push(event);
  }
  assert.equal(results.length, 2);
}
