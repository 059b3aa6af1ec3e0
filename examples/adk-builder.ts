/** AgentBuilder: an agent, its session and its runner in one line. */
import assert from 'node:assert/strict';
import { AgentBuilder, LlmAgent, contentText } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

// For a real model: 'gemini-2.5-flash', with .withEnv(process.env).
const model = new ScriptedModel(({ contents, config }) => ({
  text:
    config?.responseSchema === undefined
      ? `About ${contentText(contents.at(-1))}`
      : '{"city":"Paris","days":3}',
}));

// One question, one answer.
const response = await AgentBuilder.withModel(model).ask('What is the capital of France?');
assert.equal(response, 'About What is the capital of France?');

// A typed answer, checked by its schema.
const Trip = z.object({ city: z.string(), days: z.number() });
const trip = await AgentBuilder.withModel(model).withOutputSchema(Trip).ask('Plan a trip');
assert.equal(trip.days + 1, 4);

// The agent with its runner and session, for streaming.
await using built = await AgentBuilder.create('travel_assistant')
  .withModel(model)
  .withInstruction('You are a helpful travel planning assistant')
  .withQuickSession({ userId: 'user_123', state: { 'user:language': 'en' } })
  .build();
const { runner, session } = built;
let streamed = '';
for await (const event of runner.runAsync({
  userId: 'user_123',
  sessionId: session.id,
  newMessage: { parts: [{ text: 'Plan a 3-day trip to Paris' }] },
  runConfig: { streamingMode: 'sse' },
})) {
  if (event.partial === true) streamed += contentText(event.content);
  else console.log('Complete:', event.content?.parts);
}
assert.equal(streamed, 'About Plan a 3-day trip to Paris');
assert.equal(await runner.ask('And back'), 'About And back'); // continues the same session

// Several agents: `ask` returns each agent's answer.
const scriptedAgent = (name: string): LlmAgent => new LlmAgent({ name, model });
const answers = await AgentBuilder.create('team')
  .asSequential([scriptedAgent('a'), scriptedAgent('b')])
  .ask('Oslo');
console.log(answers);
assert.deepEqual(
  answers.map(({ agent }) => agent),
  ['a', 'b'],
);
