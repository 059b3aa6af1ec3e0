/** ADK's Runner: an app, a session, a message, and its events. The session outlives the process. */
import assert from 'node:assert/strict';
import {
  App,
  LlmAgent,
  Runner,
  SqliteSessionService,
  isFinalResponse,
  contentText,
} from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';

const assistant = new LlmAgent({
  name: 'assistant',
  description: 'A helpful assistant',
  model: new ScriptedModel(({ contents }) => ({
    text: `I have read ${contents.length} messages.`,
  })), // or 'gemini-2.5-flash', with a key in `env`
  instruction: 'Be concise. The user speaks {user:language}.',
});

const app = new App({ name: 'demo', rootAgent: assistant });
const sessionService = new SqliteSessionService('adk.db');
await using runner = new Runner({ app, sessionService, autoCreateSession: true });

const answers: string[] = [];
for await (const event of runner.runAsync({
  userId: 'ada',
  sessionId: 's1',
  newMessage: 'Hello!', // or content: { parts: [{ text: 'Hello!' }, { inlineData: … }] }
  stateDelta: { 'user:language': 'English' },
  runConfig: { maxLlmCalls: 50 },
})) {
  // Every event here is already committed: a crash after this line does not lose it.
  if (isFinalResponse(event) && event.content)
    answers.push(`${event.author}: ${contentText(event.content)}`);
}
console.log(answers.join('\n'));
assert.deepEqual(answers, ['assistant: I have read 1 messages.']);

const session = await sessionService.getSession({
  appName: 'demo',
  userId: 'ada',
  sessionId: 's1',
});
assert.deepEqual(session?.state, { 'user:language': 'English' });
await runner.close();
await sessionService.close();
