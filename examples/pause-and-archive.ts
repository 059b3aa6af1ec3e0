/** Pauses, resumes, completes and archives a session. */
import assert from 'node:assert/strict';
import { agent, IllegalTransitionError, openRuntime } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

const model = new ScriptedModel(() => ({ text: 'Sent.' }));
await using runtime = await openRuntime({ agents: [agent({ name: 'clerk', model })] });
const session = await runtime.session('demo');

await session.pause(); // no turn, model call or tool starts, also not in the next process
const turn = session.send('Send the report.');
await turn.accepted; // durable; its turn starts after the resume
await session.resume();
console.log(await turn.text());

await session.complete(); // an idle session takes no more messages
try {
  await session.ask('Send another.');
} catch (error) {
  if (!(error instanceof IllegalTransitionError)) throw error;
  console.log(error.status, error.message);
}
await session.archive(); // also stops a running turn; the log stays readable

assert.equal(model.requests.length, 1);
await assert.rejects(session.pause(), { code: 'illegal_transition', status: 'archived' });
