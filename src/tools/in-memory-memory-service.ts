import { textOf, type SessionKey } from '../core/index.ts';
import type { MemoryEntry, MemoryService } from './memory-service.ts';
import { wordsOf } from './words-of.ts';

interface Remembered {
  readonly entry: MemoryEntry;
  readonly words: ReadonlySet<string>;
}

const DEFAULT_LIMIT = 10;

/** Remembers in this process, and finds by the words of a query: the more of them an entry has, the better; newer before older. */
export class InMemoryMemoryService implements MemoryService {
  /** By owner, then by session and id. */
  readonly #entries = new Map<string, Map<string, Remembered>>();

  readonly add: MemoryService['add'] = async (session, entries) => {
    const owner = ownerOf(session);
    const owned = this.#entries.get(owner) ?? new Map<string, Remembered>();
    for (const entry of entries) {
      const id = JSON.stringify([session.sessionId, entry.id]);
      owned.set(id, { entry, words: wordsOf(textOf(entry.content)) });
    }
    this.#entries.set(owner, owned);
  };

  readonly search: MemoryService['search'] = async (owner, query, options = {}) => {
    const wanted = [...wordsOf(query)];
    const found = [...(this.#entries.get(ownerOf(owner))?.values() ?? [])]
      .map(({ entry, words }) => ({
        entry,
        score: wanted.filter((word) => words.has(word)).length,
      }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || b.entry.at - a.entry.at);
    return found.slice(0, options.limit ?? DEFAULT_LIMIT).map(({ entry }) => entry);
  };
}

function ownerOf({ appName, userId }: Pick<SessionKey, 'appName' | 'userId'>): string {
  return JSON.stringify([appName, userId]);
}
