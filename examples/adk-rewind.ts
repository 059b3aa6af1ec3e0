/** Rewind: undoes an invocation and its state changes; the log keeps it. */
import assert from 'node:assert/strict';
import { FunctionTool, InMemoryRunner, LlmAgent, contentText } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const remember = new FunctionTool({
  name: 'remember',
  description: 'Remembers a colour',
  parameters: z.object({ colour: z.string() }),
  execute: ({ colour }, { state }) => state.set('colour', colour),
});
const model = new ScriptedModel(({ contents }) => {
  const last = contents.at(-1);
  return last?.role === 'user'
    ? { toolCalls: [{ name: 'remember', args: { colour: contentText(last) } }] }
    : { text: `I was shown ${contents.length} messages.` };
});
const agent = new LlmAgent({ name: 'painter', model, tools: [remember] });

await using runner = new InMemoryRunner({ agent, appName: 'demo' });
const address = { appName: 'demo', userId: 'u1', sessionId: 's1' };
await runner.sessionService.createSession(address);

await runner.run({ ...address, newMessage: 'blue' });
const [bad] = await runner.run({ ...address, newMessage: 'mud' });
await runner.rewind({ ...address, rewindBeforeInvocationId: bad?.invocationId ?? '' });

const session = await runner.sessionService.getSession(address);
assert.deepEqual(session?.state, { colour: 'blue' });
const again = await runner.run({ ...address, newMessage: 'green' });
console.log(contentText(again.at(-1)?.content)); // the same as if the "mud" message had not been sent
assert.equal(contentText(again.at(-1)?.content), 'I was shown 7 messages.');
