import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEvent } from '../../core/index.ts';
import { memoryServiceContract } from '../contract/memory-service-cases.ts';
import { InMemoryMemoryService } from './in-memory-memory-service.ts';
import { toMemoryEntries } from './memory-service.ts';

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

for (const { name, check } of memoryServiceContract)
  test(`InMemoryMemoryService: ${name}`, async () => check(new InMemoryMemoryService()));

test('memory of a log contains the texts of users and agents, and nothing else', () => {
  const messages = log('Hello', ' ');
  const events: readonly LogEvent[] = [
    ...messages,
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
  assert.deepEqual(toMemoryEntries(events), [
    {
      id: '1',
      author: 'user',
      at: 0,
      content: messages[0]?.type === 'user.message' && messages[0].content,
    },
  ]);
});
