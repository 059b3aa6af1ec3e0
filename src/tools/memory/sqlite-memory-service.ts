import { contentText } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { TextIndex } from '../../store/index.ts';
import type { MemoryEntry, MemoryService } from './memory-service.ts';
import { tokenize } from './tokenize.ts';

const DEFAULT_LIMIT = 10;

/**
 * Keeps entries in a SQLite file and searches them by words. Rare words count more, and so do short
 * texts. The file is created on first use; several processes may share it. Do not use the file of a
 * session store.
 */
export class SqliteMemoryService implements MemoryService, AsyncDisposable {
  readonly #file: string;
  #opened: Promise<TextIndex> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  readonly add: MemoryService['add'] = async (session, entries) => {
    const index = await this.#index();
    await index.put(
      ownerKey(session),
      entries.map((entry) => ({
        id: entry.id,
        group: session.sessionId,
        at: entry.at,
        words: [...tokenize(contentText(entry.content))],
        value: { ...entry },
      })),
    );
  };

  readonly search: MemoryService['search'] = async (owner, query, options = {}) => {
    const index = await this.#index();
    const limit = options.limit ?? DEFAULT_LIMIT;
    const found = await index.search(ownerKey(owner), [...tokenize(query)], limit);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `add`
    return found as unknown as readonly MemoryEntry[];
  };

  async close(): Promise<void> {
    const index = await this.#opened?.catch(() => undefined);
    await index?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #index(): Promise<TextIndex> {
    this.#opened ??= open(this.#file).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}

async function open(file: string): Promise<TextIndex> {
  // Loaded here so that programs without this service do not load SQLite.
  const { openSqliteTextIndex } = await import('../../store/sqlite/sqlite-text-index.ts');
  return openSqliteTextIndex(file);
}

function ownerKey({ appName, userId }: Pick<SessionKey, 'appName' | 'userId'>): string {
  return JSON.stringify([appName, userId]);
}
