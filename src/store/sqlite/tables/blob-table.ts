import { StoreCorruptError } from '../../store-errors.ts';
import type { Blobs } from '../../encoding/blob-references.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { unpack, type Packed } from '../database/packed-json.ts';

/** Long strings, once each, and which sessions use them. */
export class BlobTable {
  readonly #file: string;
  readonly #insert: Statement<never>;
  readonly #use: Statement<never>;
  readonly #find: Statement<{ bytes: Uint8Array }>;
  readonly #removeUnused: Statement<never>;
  readonly #removeUses: Statement<never>;

  constructor(connection: Connection) {
    this.#file = connection.file;
    this.#insert = connection.prepare(
      'INSERT INTO blobs (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING',
    );
    this.#use = connection.prepare(
      'INSERT INTO blob_uses (session, hash) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#find = connection.prepare('SELECT bytes FROM blobs WHERE hash = ?');
    this.#removeUnused = connection.prepare(`
      DELETE FROM blobs WHERE hash IN (SELECT hash FROM blob_uses WHERE session = ?)
        AND NOT EXISTS (SELECT 1 FROM blob_uses AS other WHERE other.hash = blobs.hash AND other.session <> ?)`);
    this.#removeUses = connection.prepare('DELETE FROM blob_uses WHERE session = ?');
  }

  /** Keeps what a packed value of the session refers to. */
  keep(session: number, blobs: Blobs): void {
    for (const [hash, text] of blobs) {
      this.#insert.run(hash, Buffer.from(text, 'utf8'));
      this.#use.run(session, hash);
    }
  }

  /** Removes what no other session uses. */
  removeSession(session: number): void {
    this.#removeUnused.run(session, session);
    this.#removeUses.run(session);
  }

  /** @throws StoreCorruptError naming the file and `what` in it cannot be read. */
  unpack<T>(packed: Packed<T>, what: string): T {
    try {
      return unpack(packed, (hash) => this.#text(hash));
    } catch (error) {
      throw new StoreCorruptError(this.#file, `is damaged: ${what} cannot be read`, {
        cause: error,
      });
    }
  }

  #text(hash: string): string {
    const row = this.#find.get(hash);
    if (row === undefined) throw new Error(`blob ${hash} is missing`);
    return Buffer.from(row.bytes).toString('utf8');
  }
}
