// What a model is told and shown: an instruction with state and an artifact in it, and the latest part of a long
// conversation.
import assert from 'node:assert/strict';
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { InMemoryArtifactService } from 'petrichor/tools';
import { z } from 'zod';

const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { toolCalls: [{ name: 'note', args: { text: 'Rain.' } }] }
    : { text: 'Noted.' },
);

const note = tool({
  name: 'note',
  description: 'Adds a line to the notes',
  parameters: z.object({ text: z.string() }),
  // The same call, run again after a crash, saves no second version.
  execute: async ({ text }, { artifacts }) => ({
    version: await artifacts.save('notes', { text }),
  }),
});

const assistant = agent({
  name: 'assistant',
  model,
  tools: [note],
  instruction: 'You work for {user:name}. Notes so far: {artifact.notes?}',
  // For the whole prompt, by estimate; pass countTokens for a better one, or a function for another policy.
  context: { maxTokens: 200, keepFirst: true },
});

await using runtime = await openRuntime({
  agents: [assistant],
  artifacts: new InMemoryArtifactService(),
});
const session = await runtime.session('demo');
for (let day = 1; day <= 20; day++) {
  await session.ask(`Day ${day}.`, { stateDelta: { 'user:name': 'Ada' } });
}

const last = model.requests.at(-1);
console.log(last?.instruction);
console.log(`In turn 20 the model was shown ${last?.contents.length} messages.`);
assert.equal(last?.instruction, 'You work for Ada. Notes so far: Rain.');
assert.ok(last.contents.length < 30);
