import { sha256Hex, type Json } from '../../core/index.ts';
import { parsePosition } from '../rules/parse-position.ts';
import { Connection } from './database/connection.ts';
import type { Statement } from './database/connection.ts';
import { openDatabase } from './database/open-database.ts';
import { retryBusy, sleep } from './database/retry-busy.ts';
import type { BusyPolicy } from './database/retry-busy.ts';
import { StoreClosedError } from '../store-errors.ts';
import type { IndexedText, TextIndex } from '../text-index.ts';

/** Marks a database as a Petrichor text index: "ptrx". */
const APPLICATION_ID = 0x70747278;

const MIGRATIONS = [
  `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    grouped TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (owner, grouped, name)
  ) STRICT;

  -- Words are divided before they come here, in every language: a space parts them. The owner is a word of its own.
  CREATE VIRTUAL TABLE entry_words USING fts5(owner, words, tokenize = "unicode61 remove_diacritics 0 tokenchars '_-''.’'");
`,
];

/** Further words of a query are ignored, because they only make it slow. */
const MAX_WORDS = 200;

/**
 * Opens a text index in a separate SQLite file, and creates the file if it does not exist. Processes can share it.
 * @param options.busyMs how long a call waits for another process, in milliseconds. Default: 5000.
 */
export async function openSqliteTextIndex(
  file: string,
  { busyMs = 5000 }: { readonly busyMs?: number } = {},
): Promise<TextIndex> {
  const policy = { busyMs, sleep };
  const opened = await openDatabase(file, MIGRATIONS, policy, APPLICATION_ID);
  return new SqliteTextIndex(new Connection(opened.file, opened.database), policy);
}

class SqliteTextIndex implements TextIndex {
  readonly #connection: Connection;
  readonly #policy: BusyPolicy;
  readonly #insert: Statement<{ id: number }>;
  readonly #removeWords: Statement<never>;
  readonly #insertWords: Statement<never>;
  readonly #search: Statement<{ value: string }>;
  #closed = false;

  constructor(connection: Connection, policy: BusyPolicy) {
    this.#connection = connection;
    this.#policy = policy;
    this.#insert = connection.prepare(`
      INSERT INTO entries (owner, grouped, name, at, value) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (owner, grouped, name) DO UPDATE SET at = excluded.at, value = excluded.value RETURNING id`);
    this.#removeWords = connection.prepare('DELETE FROM entry_words WHERE rowid = ?');
    this.#insertWords = connection.prepare(
      'INSERT INTO entry_words (rowid, owner, words) VALUES (?, ?, ?)',
    );
    // The owner column has weight 0, so it filters without ranking. The rank is rounded, so that entries with the same
    // words are ordered by time alone.
    this.#search = connection.prepare(`
      SELECT e.value FROM entry_words AS w JOIN entries AS e ON e.id = w.rowid
      WHERE entry_words MATCH ? ORDER BY round(bm25(entry_words, 0.0, 1.0), 9), e.at DESC, e.id DESC LIMIT ?`);
  }

  async put(owner: string, entries: readonly IndexedText[]): Promise<void> {
    const word = ownerWord(owner);
    await this.#retry(() =>
      this.#connection.write(() => {
        for (const { id: name, group, at, words, value } of entries) {
          const row = this.#insert.get(owner, group, name, at, JSON.stringify(value));
          if (row === undefined) continue;
          this.#removeWords.run(row.id);
          this.#insertWords.run(row.id, word, words.join(' '));
        }
      }),
    );
  }

  async search(owner: string, words: readonly string[], limit: number): Promise<readonly Json[]> {
    parsePosition(limit, 'limit');
    const quotedWords = words.slice(0, MAX_WORDS).map((word) => `"${word.replaceAll('"', '""')}"`);
    if (quotedWords.length === 0) return [];
    const query = `owner : ${ownerWord(owner)} AND words : (${quotedWords.join(' OR ')})`;
    const rows = await this.#retry(() => this.#search.all(query, limit));
    return rows.map(({ value }) => {
      const parsed: Json = JSON.parse(value);
      return parsed;
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#connection.close();
  }

  async #retry<T>(action: () => T): Promise<T> {
    if (this.#closed) throw new StoreClosedError();
    try {
      return await retryBusy(this.#policy, action);
    } catch (error) {
      throw this.#connection.toStoreError(error);
    }
  }
}

function ownerWord(owner: string): string {
  return `u${sha256Hex(owner)}`;
}
