import assert from 'node:assert/strict';
import { contentText } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from '../memory/memory-service.ts';

/** One requirement of every memory service that searches by words, checked on an empty service. */
export interface MemoryServiceCase {
  readonly name: string;
  readonly check: (service: MemoryService) => Promise<void>;
}

const session: SessionKey = { appName: 'a', userId: 'u', sessionId: '1' };

function entries(...texts: readonly string[]): readonly MemoryEntry[] {
  return texts.map((text, at) => ({
    id: String(at + 1),
    author: 'user',
    at,
    content: { role: 'user', parts: [{ text }] },
  }));
}

async function found(service: MemoryService, query: string): Promise<readonly string[]> {
  return (await service.search(session, query)).map(({ content }) => contentText(content));
}

export const memoryServiceContract: readonly MemoryServiceCase[] = [
  {
    name: 'entries with more words of the query come first, and newer before older',
    check: async (service) => {
      const texts = ['The sea is cold.', 'A boat here.', 'A boat in the harbour.', 'A boat here.'];
      await service.add(session, entries(...texts));
      const [first, ...rest] = await service.search(session, 'BOAT harbour');
      assert.equal(first?.id, '3');
      assert.deepEqual(
        rest.map(({ id }) => id),
        ['4', '2'],
      );
      assert.deepEqual(first, entries(...texts)[2]);
      assert.deepEqual(await found(service, 'submarine'), []);
      assert.deepEqual(await found(service, ''), []);
      assert.deepEqual(await found(service, '?! "'), []);
      assert.equal((await service.search(session, 'boat', { limit: 1 })).length, 1);
    },
  },
  {
    name: 'words are found in a language that puts no spaces between them',
    check: async (service) => {
      await service.add(session, entries('今日は天気がいいですね。', 'いいえ。'));
      assert.deepEqual(await found(service, '天気'), ['今日は天気がいいですね。']);
    },
  },
  {
    name: 'query-language syntax is searched as plain words',
    check: async (service) => {
      await service.add(
        session,
        entries("don't panic", 'AND OR NOT NEAR', 'owner : y', 'a_b 3.5 e-mail'),
      );
      assert.deepEqual(await found(service, "don't"), ["don't panic"]);
      assert.deepEqual(await found(service, 'NEAR("x" *'), ['AND OR NOT NEAR']);
      assert.deepEqual(await found(service, 'owner'), ['owner : y']);
      for (const word of ['a_b', '3.5', 'mail'])
        assert.deepEqual(await found(service, word), ['a_b 3.5 e-mail']);
    },
  },
  {
    name: 'a session that is added again is not stored twice',
    check: async (service) => {
      await service.add(session, entries('tea'));
      await service.add(session, entries('tea', 'more tea'));
      await service.add({ ...session, sessionId: '2' }, entries('other tea'));
      assert.deepEqual((await found(service, 'tea')).toSorted(), ['more tea', 'other tea', 'tea']);
      await service.add(session, entries('coffee'));
      assert.deepEqual((await found(service, 'tea')).toSorted(), ['more tea', 'other tea']);
    },
  },
  {
    name: 'a search finds no entries of another user, nor of the same user in another app',
    check: async (service) => {
      await service.add(session, entries('secret'));
      assert.deepEqual(await service.search({ appName: 'a', userId: 'v' }, 'secret'), []);
      assert.deepEqual(await service.search({ appName: 'b', userId: 'u' }, 'secret'), []);
      assert.equal((await service.search(session, 'secret')).length, 1);
    },
  },
];
