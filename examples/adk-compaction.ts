/** Compaction: the model is shown a summary of older events. The log keeps every event. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { App, BaseEventsSummarizer, InMemoryRunner, LlmAgent, contentText } from 'petrichor/adk';
import type { Event } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';

/** A custom summarizer. Default: the root agent's model writes the summary. */
class Counting extends BaseEventsSummarizer {
  override async summarizeEvents({
    events,
  }: {
    readonly events: readonly Event[];
  }): Promise<Event | undefined> {
    const [first] = events;
    const text = `Before this, ${events.length} events.`;
    return first && { ...first, content: { role: 'user', parts: [{ text }] } };
  }
}

const model = new ScriptedModel(({ contents }) => ({
  text: contents.map(contentText).join(' | '),
}));
const app = new App({
  name: 'demo',
  rootAgent: new LlmAgent({ name: 'chat', model }),
  eventsCompactionConfig: {
    compactionInterval: 2, // after every second invocation
    overlapSize: 1, // keep the latest one word for word
    tokenThreshold: 50_000, // also at this many tokens,
    eventRetentionSize: 50, // and then keep this many events
    summarizer: new Counting(),
  },
});
await using runner = new InMemoryRunner({ app, autoCreateSession: true });
const here = { appName: 'demo', userId: 'u1', sessionId: 's1' };

await runner.run({ ...here, newMessage: 'one' });
await runner.run({ ...here, newMessage: 'two' });
while (!(await events()).some(({ actions }) => actions.compaction)) await delay(5); // the summary is made beside the turns
const answered = await runner.run({ ...here, newMessage: 'three' });
console.log(contentText(answered.at(-1)?.content));
assert.match(
  contentText(answered.at(-1)?.content),
  /^Before this, 2 events\. \| two \| .* \| three$/,
);
assert.equal((await events()).length, 3 * 2 + 1); // nothing is removed: each message, each answer, and the summary

async function events(): Promise<readonly Event[]> {
  return (await runner.sessionService.getSession(here))?.events ?? [];
}
