import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../core/index.ts';
import type { LogEvent, SessionKey } from '../core/index.ts';
import { InMemoryMemoryService } from './in-memory-memory-service.ts';
import { memoryEntriesOf } from './memory-service.ts';

const session: SessionKey = { appName: 'a', userId: 'u', sessionId: '1' };

function log(...texts: readonly string[]): readonly LogEvent[] {
  return texts.map((text, i) => ({
    type: 'user.message',
    seq: i + 1,
    at: i,
    author: 'user',
    invocationId: 'e-1',
    messageId: `m${i}`,
    content: { role: 'user', parts: [{ text }] },
  }));
}

async function found(service: InMemoryMemoryService, query: string): Promise<readonly string[]> {
  return (await service.search(session, query)).map(({ content }) => textOf(content));
}

test('what has more words of the query comes first, and newer before older', async () => {
  const service = new InMemoryMemoryService();
  await service.add(
    session,
    memoryEntriesOf(log('The Harbour is cold.', 'My boat is in the harbour.', 'A boat!', 'No.')),
  );
  assert.deepEqual(await found(service, 'BOAT harbour'), [
    'My boat is in the harbour.',
    'A boat!',
    'The Harbour is cold.',
  ]);
  assert.deepEqual(await found(service, 'submarine'), []);
  assert.deepEqual(await found(service, ''), []);
  assert.equal((await service.search(session, 'boat', { limit: 1 })).length, 1);
});

test('words are found in a language that puts no spaces between them', async () => {
  const service = new InMemoryMemoryService();
  await service.add(session, memoryEntriesOf(log('今日は天気がいいですね。', 'いいえ。')));
  assert.deepEqual(await found(service, '天気'), ['今日は天気がいいですね。']);
});

test('a session that is added again is not there twice', async () => {
  const service = new InMemoryMemoryService();
  await service.add(session, memoryEntriesOf(log('tea')));
  await service.add(session, memoryEntriesOf(log('tea', 'more tea')));
  await service.add({ ...session, sessionId: '2' }, memoryEntriesOf(log('other tea')));
  assert.deepEqual((await found(service, 'tea')).toSorted(), ['more tea', 'other tea', 'tea']);
});

test('of a log the words of people and agents are remembered, and nothing else', () => {
  const said = log('Hello', ' ');
  const events: readonly LogEvent[] = [
    ...said,
    { type: 'turn.started', seq: 3, at: 3, invocationId: 'e-1' },
    {
      type: 'agent.message',
      seq: 4,
      at: 4,
      author: 'helper',
      invocationId: 'e-1',
      finishReason: 'tool_calls',
      content: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
    },
  ];
  assert.deepEqual(memoryEntriesOf(events), [
    {
      id: '1',
      author: 'user',
      at: 0,
      content: said[0]?.type === 'user.message' && said[0].content,
    },
  ]);
});
