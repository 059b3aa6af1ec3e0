import { contentText, type SessionKey } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from './memory-service.ts';
import { tokenize } from './tokenize.ts';

interface IndexedEntry {
  readonly entry: MemoryEntry;
  readonly tokens: ReadonlySet<string>;
}

const DEFAULT_LIMIT = 10;

/**
 * Keeps entries in the memory of this process and searches them by words. Entries with more words
 * of the query come first, then newer before older.
 */
export class InMemoryMemoryService implements MemoryService {
  /** By owner, then by session and id. */
  readonly #entries = new Map<string, Map<string, IndexedEntry>>();

  readonly add: MemoryService['add'] = async (session, entries) => {
    const owner = ownerKey(session);
    const owned = this.#entries.get(owner) ?? new Map<string, IndexedEntry>();
    for (const entry of entries) {
      const id = JSON.stringify([session.sessionId, entry.id]);
      owned.set(id, { entry, tokens: tokenize(contentText(entry.content)) });
    }
    this.#entries.set(owner, owned);
  };

  readonly search: MemoryService['search'] = async (owner, query, options = {}) => {
    const wanted = [...tokenize(query)];
    const found = [...(this.#entries.get(ownerKey(owner))?.values() ?? [])]
      .map(({ entry, tokens }) => ({
        entry,
        score: wanted.filter((word) => tokens.has(word)).length,
      }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || b.entry.at - a.entry.at);
    return found.slice(0, options.limit ?? DEFAULT_LIMIT).map(({ entry }) => entry);
  };
}

function ownerKey({ appName, userId }: Pick<SessionKey, 'appName' | 'userId'>): string {
  return JSON.stringify([appName, userId]);
}
