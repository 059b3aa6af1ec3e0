/** Events: partial answers, tool calls, results, and the final response. */
import assert from 'node:assert/strict';
import {
  FunctionTool,
  getFunctionCalls,
  getFunctionResponses,
  InMemoryRunner,
  isFinalResponse,
  LlmAgent,
  contentText,
} from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const weather = new FunctionTool({
  name: 'weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear' }),
});
const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { text: 'Let me look.', toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }] }
    : { text: 'The sky over Oslo is clear.' },
);
const agent = new LlmAgent({ name: 'forecaster', model, tools: [weather] });

await using runner = new InMemoryRunner({ agent, appName: 'demo' });
const { id: sessionId } = await runner.sessionService.createSession({
  appName: 'demo',
  userId: 'u1',
});

let shown = '';
let final = '';
for await (const event of runner.runAsync({
  userId: 'u1',
  sessionId,
  newMessage: 'How is Oslo?',
  runConfig: { streamingMode: 'sse' }, // 'none' yields whole events only
})) {
  if (event.partial === true) {
    shown += contentText(event.content); // a partial event: not stored, and repeated by the whole event
    continue;
  }
  for (const { name, args } of getFunctionCalls(event))
    shown += `\n[${name}(${JSON.stringify(args)})`;
  for (const { response } of getFunctionResponses(event))
    shown += ` = ${JSON.stringify(response)}]\n`;
  if (isFinalResponse(event)) final = contentText(event.content);
}
console.log(shown);
assert.equal(
  shown,
  'Let me look.\n[weather({"city":"Oslo"}) = {"city":"Oslo","sky":"clear"}]\nThe sky over Oslo is clear.',
);
assert.equal(final, 'The sky over Oslo is clear.');
