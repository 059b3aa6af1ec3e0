/** Fixture F-1 from end to end: a greeting is answered. Clone this folder to see whether your platform can host sessions. */
import assert from 'node:assert/strict';
import { managedAgent, openManagedRuntime } from 'petrichor/managed';
import { ScriptedModel } from 'petrichor/testing';

const model = new ScriptedModel([{ text: 'Hello! How can I help you today?' }]);
await using runtime = await openManagedRuntime({ resolver: async () => model });
const agent = await runtime.create(managedAgent('smoke', 'gemini-2.5-flash').build());
const { id } = await runtime.startSession(agent.id, { userId: 'smoke' });
await runtime.sendEvent(id, { type: 'user.message', content: 'Hello' });
const types: string[] = [];
for await (const { type } of runtime.streamEvents(id, 0)) {
  types.push(type);
  if (type === 'status.idle') break;
}
assert.deepEqual(types, ['status.running', 'agent.message', 'status.idle']);
console.log('F-1 holds');
