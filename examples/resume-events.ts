/** Reads a session's log from any number on, and then what happens, without a gap or a repetition. */
import assert from 'node:assert/strict';
import { agent, openRuntime } from 'petrichor';
import type { LogEvent, Session } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

const model = new ScriptedModel((_, turn) => ({ text: `This is answer ${turn + 1}.` }));
const clerk = agent({ name: 'clerk', model });

await using runtime = await openRuntime({ agents: [clerk] });
const session = await runtime.session('counter');

// Nobody needs to watch: `accepted` says that the message is durable.
await session.send('One.').accepted;

// A client that watches until the first turn ends, and goes away.
const seen: LogEvent[] = [];
for await (const event of session.events()) {
  if (!('seq' in event)) continue; // a piece of text that is still being made
  seen.push(event);
  if (event.type === 'turn.ended') break;
}

// While it is away, more happens.
for await (const event of session.send('Two.')) void event;

// It comes back with the number of the last event it has: history first, then live, until it stops listening.
const stop = new AbortController();
const back = follow(session, seen.at(-1)?.seq ?? 0, stop);
await session.send('Three.').accepted;
seen.push(...(await back));

assert.deepEqual(
  seen.map(({ seq }) => seq),
  seen.map((_, index) => index + 1),
);
assert.equal(seen.filter(({ type }) => type === 'turn.ended').length, 3);
console.log(`${seen.length} events, numbered 1 to ${seen.length}.`);

async function follow(
  of: Session,
  from: number,
  until: AbortController,
): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of of.events(from, { signal: until.signal })) {
    if (!('seq' in event)) continue;
    events.push(event);
    if (events.filter(({ type }) => type === 'turn.ended').length === 2) until.abort();
  }
  return events;
}
