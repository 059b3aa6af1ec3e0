import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentText } from '../../core/index.ts';
import type { MemoryEntry } from './memory-service.ts';
import { VectorMemoryService } from './vector-memory-service.ts';

const session = { appName: 'a', userId: 'u', sessionId: '1' } as const;

const createEntry = (id: string, text: string): MemoryEntry => ({
  id,
  author: 'user',
  at: 0,
  content: { role: 'user', parts: [{ text }] },
});

/** An embedding model: represents the topic of a text by two numbers. */
const embed = async (texts: readonly string[]): Promise<readonly (readonly number[])[]> =>
  texts.map((text) => [/boat|ship|sea/.test(text) ? 1 : 0, /tea|cup/.test(text) ? 1 : 0]);

test('a search finds texts with the same meaning in other words, and nothing else', async () => {
  const service = new VectorMemoryService({ embed, minScore: 0.5 });
  await service.add(session, [
    createEntry('1', 'my boat'),
    createEntry('2', 'a cup'),
    createEntry('3', 'nothing'),
  ]);
  const found = await service.search(session, 'ship');
  assert.deepEqual(
    found.map(({ content }) => contentText(content)),
    ['my boat'],
  );
  assert.deepEqual(await service.search(session, ' '), []);
  assert.deepEqual(await service.search({ ...session, userId: 'v' }, 'ship'), []);
  await service.add(session, [createEntry('1', 'my tea')]);
  assert.equal((await service.search(session, 'ship')).length, 0);
  assert.equal((await service.search(session, 'tea', { limit: 1 })).length, 1);
});

test('too few vectors from the embedding function are an error, and nothing is stored', async () => {
  const service = new VectorMemoryService({ embed: async () => [] });
  await assert.rejects(service.add(session, [createEntry('1', 'x')]), { code: 'invalid_input' });
});
