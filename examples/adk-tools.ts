/** Tools: typed arguments, state, a confirmation by a person, and a result that arrives later. */
import assert from 'node:assert/strict';
import {
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  LongRunningFunctionTool,
  getFunctionCalls,
  getPendingUserInputRequests,
  contentText,
} from 'petrichor/adk';
import type { Content } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const refund = new FunctionTool({
  name: 'refund',
  description: 'Pays money back',
  parameters: z.object({ cents: z.number().int() }),
  needsApproval: ({ cents }) => cents > 1000,
  execute: ({ cents }, { state }) => {
    state.increment('refunded', cents);
    return 'paid'; // a plain value becomes { result: 'paid' }
  },
});
const askLawyer = new LongRunningFunctionTool({
  name: 'ask_lawyer',
  description: 'Asks a lawyer, who answers some day',
  execute: () => ({ ticket: 7 }), // the first result; a later one comes from outside
});

const model = new ScriptedModel(({ contents }) => {
  const last = contents.at(-1);
  if (last?.role === 'user')
    return contentText(last).includes('law')
      ? { toolCalls: [{ name: 'ask_lawyer' }] }
      : { toolCalls: [{ name: 'refund', args: { cents: 5000 } }] };
  return { text: JSON.stringify(last?.parts[0]) };
});
const agent = new LlmAgent({ name: 'clerk', model, tools: [refund, askLawyer] });

await using runner = new InMemoryRunner({ agent, appName: 'desk' });
const session = await runner.sessionService.createSession({ appName: 'desk', userId: 'u1' });
const here = { userId: 'u1', sessionId: session.id };

// A call that needs approval ends the run. The answer is a function response, now or after a restart.
const asked = await runner.run({ ...here, newMessage: 'I want my 50 back.' });
const [call] = getPendingUserInputRequests(asked);
assert.equal(call?.toolName, 'refund');
const paid = await runner.run({
  ...here,
  newMessage: answer(call.interruptId, call.functionCallName, { confirmed: true }),
});
assert.match(contentText(paid.at(-1)?.content), /"result":"paid"/);

// The model sees the first result of a long-running tool. A later one is a function response too, and a message.
const waiting = await runner.run({ ...here, newMessage: 'What does the law say?' });
assert.match(contentText(waiting.at(-1)?.content), /"ticket":7/);
const [id = ''] = waiting.flatMap(getFunctionCalls).map((one) => one.id);
const answered = await runner.run({
  ...here,
  newMessage: answer(id, 'ask_lawyer', { says: 'No.' }),
});
console.log(contentText(answered.at(-1)?.content));
assert.match(contentText(answered.at(-1)?.content), /"says":"No."/);

function answer(id: string, name: string, response: Record<string, string | boolean>): Content {
  return { role: 'user', parts: [{ functionResponse: { id, name, response } }] };
}
