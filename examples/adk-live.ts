/** A live session: the user speaks and writes at any time, and so does the agent. */
import assert from 'node:assert/strict';
import { InMemoryRunner, LiveRequestQueue, LlmAgent, contentText } from 'petrichor/adk';
import { ScriptedLive } from 'petrichor/live';
import { ScriptedModel } from 'petrichor/testing';

// In place of a model such as 'gemini-live-2.5-flash', which needs an API key.
const liveModel = new ScriptedLive({
  turns: [{ text: 'Hello Ann.' }, { heard: 'Who am I?', text: 'You are Ann.' }],
});
const model = new ScriptedModel(({ contents }) => ({
  text: `I have ${contents.length} messages.`,
}));
const agent = new LlmAgent({ name: 'assistant', model, liveModel });

await using runner = new InMemoryRunner({ agent, appName: 'demo', autoCreateSession: true });
const address = { userId: 'u1', sessionId: 's1' };
const queue = new LiveRequestQueue();
queue.sendContent({ role: 'user', parts: [{ text: 'I am Ann.' }] });

const said: string[] = [];
for await (const event of runner.runLive({ ...address, liveRequestQueue: queue })) {
  const { inputTranscription: input, outputTranscription: output } = event;
  // Partial events have audio, and transcripts in progress.
  if (event.partial === true) continue;
  if (input !== undefined) said.push(`user: ${input.text}`);
  if (output !== undefined) said.push(`${event.author}: ${output.text}`);
  if (event.turnComplete !== true) continue;
  if (said.length > 1) queue.close();
  else speak();
}
console.log(said.join('\n'));
assert.deepEqual(said, ['assistant: Hello Ann.', 'user: Who am I?', 'assistant: You are Ann.']);

// Afterwards it is a session like any other.
const events = await runner.run({ ...address, newMessage: 'What do you have?' });
assert.equal(contentText(events.at(-1)?.content), 'I have 5 messages.');

/** 300 ms of speech, and silence. */
function speak(): void {
  for (const [frames, loudness] of [
    [15, 4_000],
    [10, 0],
  ] as const) {
    for (let frame = 0; frame < frames; frame++) {
      const pcm = Buffer.from(new Int16Array(320).fill(loudness).buffer);
      queue.sendRealtime({ mimeType: 'audio/pcm;rate=16000', data: pcm.toString('base64') });
    }
  }
}
