import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import type { SessionEvent } from '../../src/client/index.ts';
import { toChat } from '../src/session/chat-items.ts';
import { travel } from './agents.ts';
import { openConsoleServer } from './console-server.ts';

test('a chat of the last events is the end of the whole chat, with its status', async () => {
  await using server = await openConsoleServer({ agents: [travel] });
  const client = createClient({ baseUrl: server.url });
  const { id } = await client.sessions.create({ agent: 'agent_travel' });
  for (let turn = 0; turn < 5; turn++) await client.sessions.ask(id, 'hello');
  await client.sessions.ask(id, 'Book a flight to Berlin').catch(() => undefined);
  const events: SessionEvent[] = [];
  for await (const event of client.sessions.listEvents(id, { limit: 1000 })) events.push(event);
  const last = events.at(-1)?.seq ?? 0;
  for (let upToSeq = 0; upToSeq <= last; upToSeq++) {
    const whole = toChat(events, { upToSeq });
    assert.equal(whole.hasEarlier, false);
    for (const most of [1, 7, 20, 1000]) {
      const part = toChat(events, { upToSeq, most });
      assert.deepEqual([part.status, part.waiting], [whole.status, whole.waiting]);
      const messages = part.items.filter(({ kind }) => kind === 'message');
      const all = whole.items.filter(({ kind }) => kind === 'message');
      // The same objects: a page sees that nothing changed.
      for (const [index, item] of messages.toReversed().entries())
        assert.equal(item, all.at(-1 - index));
      assert.equal(part.hasEarlier, events.filter(({ seq }) => seq <= upToSeq).length > most);
    }
  }
  assert.equal(toChat(events).waiting.size, 1);
});
