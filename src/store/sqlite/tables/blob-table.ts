import { StoreCorruptError } from '../../store-errors.ts';
import type { Blobs } from '../../encoding/blob-references.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { unpack, type Packed } from '../database/packed-json.ts';

/** Stores each long string once, and records which sessions use it. */
export class BlobTable {
  readonly #file: string;
  readonly #insert: Statement<never>;
  readonly #use: Statement<never>;
  readonly #find: Statement<{ bytes: Uint8Array }>;
  readonly #removeUnused: Statement<never>;
  readonly #removeUses: Statement<never>;
  readonly #removeUse: Statement<never>;
  readonly #removeIfUnused: Statement<never>;

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
    this.#removeUse = connection.prepare('DELETE FROM blob_uses WHERE session = ? AND hash = ?');
    this.#removeIfUnused = connection.prepare(
      'DELETE FROM blobs WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE hash = ?)',
    );
  }

  /** Stores the blobs of a packed value of the session. */
  keep(session: number, blobs: Blobs): void {
    for (const [hash, text] of blobs) {
      this.#insert.run(hash, Buffer.from(text, 'utf8'));
      this.#use.run(session, hash);
    }
  }

  /** Removes blobs that the session does not use any more. */
  release(session: number, hashes: Iterable<string>): void {
    for (const hash of hashes) {
      this.#removeUse.run(session, hash);
      this.#removeIfUnused.run(hash, hash);
    }
  }

  /** Removes the blobs of a session that no other session uses. */
  removeSession(session: number): void {
    this.#removeUnused.run(session, session);
    this.#removeUses.run(session);
  }

  /**
   * Unpacks a value and its blobs.
   * @param description what the value is, for the error message
   * @throws StoreCorruptError when the data is damaged
   */
  unpack<T>(packed: Packed<T>, description: string): T {
    try {
      return unpack(packed, (hash) => this.#text(hash));
    } catch (error) {
      throw new StoreCorruptError(this.#file, `is damaged: ${description} cannot be read`, {
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
