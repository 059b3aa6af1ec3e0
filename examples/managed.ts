/** A managed agent: declared as data, its custom tool answered by the client, its work judged until it is good. */
import assert from 'node:assert/strict';
import { managedAgent, openManagedRuntime } from 'petrichor/managed';
import type { SessionEvent } from 'petrichor/managed';
import { ScriptedModel } from 'petrichor/testing';

// Models that need no key: one that works, and one that judges.
const model = new ScriptedModel([
  { text: 'I will.', toolCalls: [{ name: 'deploy', args: { target: 'prod' } }] },
  { text: 'It is deployed.' },
  { text: 'Deployed.' },
  { text: 'Deployed to prod, and the old version is kept.' },
]);
const grader = new ScriptedModel(({ contents }) => ({
  text: JSON.stringify(contents).includes('old version is kept')
    ? '{"result": "satisfied", "explanation": "It says all."}'
    : '{"result": "needs_revision", "explanation": "Say what became of the old version."}',
}));

await using runtime = await openManagedRuntime({
  store: 'sqlite:managed.db',
  durability: 'crash', // Refuses to start on a store that would forget.
  resolver: async () => model,
  grader,
});

const definition = managedAgent('deployer', 'gemini-2.5-flash')
  .withSystem('You deploy, and report.')
  .withTools({
    type: 'custom',
    name: 'deploy',
    description: 'Deploys to a target',
    input_schema: { type: 'object', properties: { target: { type: 'string' } } },
  })
  .build();
const agent = await runtime.create(definition);
const session = await runtime.startSession(agent.id, { userId: 'ada' });
assert.equal(session.status, 'queued');

await runtime.sendEvent(session.id, { type: 'user.message', content: 'Deploy it.' });
const asked = await until((event) => event.type === 'agent.custom_tool_use');
assert.ok(asked.type === 'agent.custom_tool_use');

// Here, in another process, today or tomorrow: the call waits in the store.
await runtime.sendEvent(session.id, {
  type: 'user.custom_tool_result',
  custom_tool_use_id: asked.custom_tool_use_id,
  content: '{"url": "https://example.org"}',
});
const rested = await until((event) => event.type === 'status.idle');

await runtime.sendEvent(session.id, {
  type: 'user.define_outcome',
  description: 'A report of the deployment.',
  complete_when_satisfied: true,
});
await until((event) => event.type === 'status.idle', rested.seq);
assert.equal(await runtime.status(session.id), 'completed');
const rounds: string[] = [];
for await (const event of runtime.streamLog(session.id, 0, { follow: false }))
  if (event.type === 'outcome.evaluated') rounds.push(event.result);
assert.deepEqual(rounds, ['needs_revision', 'satisfied']);

await runtime.archive(session.id);
console.log(await runtime.usage(session.id));

async function until(isIt: (event: SessionEvent) => boolean, from = 0): Promise<SessionEvent> {
  for await (const event of runtime.streamEvents(session.id, from)) {
    console.log(event.seq, event.type);
    if (isIt(event)) return event;
  }
  throw new Error('The session is gone.');
}
