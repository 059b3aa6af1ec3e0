/** A Petrichor agent under the Runner of stock @google/adk, beside a stock agent. */
import assert from 'node:assert/strict';
import {
  BaseAgent,
  createEvent,
  InMemoryRunner,
  SequentialAgent,
  setLogger,
  stringifyContent,
} from '@google/adk';
import type { Event, InvocationContext } from '@google/adk';
import { LlmAgent } from 'petrichor/adk';
import { PetriAgent } from 'petrichor/google-adk';
import { ScriptedModel } from 'petrichor/testing';

setLogger(null); // stock ADK logs its deprecations

const reviewer = new LlmAgent({
  name: 'reviewer',
  model: new ScriptedModel(({ contents }) => ({
    text: `Read ${contents.length} messages. ${JSON.stringify(contents.at(-1)?.parts)}`,
  })),
});
await using ours = new PetriAgent({ agent: reviewer }); // with sessionService: … its memory survives a restart

/** A stock ADK agent. */
class Writer extends BaseAgent {
  protected async *runAsyncImpl({ invocationId }: InvocationContext): AsyncGenerator<Event> {
    const content = { role: 'model', parts: [{ text: 'A draft.' }] };
    yield createEvent({ invocationId, author: this.name, content });
  }

  // oxlint-disable-next-line require-yield -- stock ADK requires it; this example has no live session
  protected async *runLiveImpl(): AsyncGenerator<Event> {
    throw new Error('not live');
  }
}

const agent = new SequentialAgent({
  name: 'team',
  subAgents: [new Writer({ name: 'writer' }), ours],
});
const runner = new InMemoryRunner({ agent, appName: 'stock-app' });
const session = await runner.sessionService.createSession({ appName: 'stock-app', userId: 'u1' });
const newMessage = { role: 'user', parts: [{ text: 'Write.' }] };
const lines: string[] = [];
for (let turn = 0; turn < 2; turn++) {
  for await (const event of runner.runAsync({ userId: 'u1', sessionId: session.id, newMessage }))
    lines.push(`${event.author}: ${stringifyContent(event)}`);
}
console.log(lines.join('\n'));
assert.match(lines[1] ?? '', /^reviewer: Read 1 messages. .*\[writer\] said: A draft\./);
assert.match(lines[3] ?? '', /^reviewer: Read 3 messages./); // one net for all turns of the session
