import { type Json, formatSessionKey, type SessionKey } from '../../../core/index.ts';
import type { InboxRow, InputSeq } from '../../store.ts';
import type { Blobs } from '../../encoding/blob-references.ts';
import type { BlobTable } from './blob-table.ts';
import type { Connection, Statement } from '../database/connection.ts';
import type { Packed } from '../database/packed-json.ts';
import { ITEM_BITS } from '../database/schema.ts';
import type { SessionHead } from './session-table.ts';

const KEYS_PER_REMOVAL = 1024;

const INPUT = `id & ${2 ** ITEM_BITS - 1} AS input`;
const NEXT_SESSION = `((? + 1) << ${ITEM_BITS})`;

/** The unread inputs of sessions, and the dedupe keys of all their inputs. */
export class InboxTable {
  readonly #blobs: BlobTable;
  readonly #findByKey: Statement<{ input: InputSeq }>;
  readonly #newest: Statement<{ input: InputSeq }>;
  readonly #insert: Statement<never>;
  readonly #insertKey: Statement<never>;
  readonly #unread: Statement<{ input: InputSeq; key: string; place: string; value: Packed<Json> }>;
  readonly #consume: Statement<never>;
  readonly #removeKeys: Statement<never>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#blobs = blobs;
    this.#findByKey = connection.prepare(
      'SELECT input FROM input_keys WHERE session = ? AND key = ?',
    );
    this.#newest = connection.prepare(`
      SELECT ${INPUT} FROM inbox WHERE id > ? << ${ITEM_BITS} AND id < ${NEXT_SESSION} ORDER BY id DESC LIMIT 1`);
    this.#insert = connection.prepare(
      `INSERT INTO inbox VALUES ((? << ${ITEM_BITS} | ?), ?, ?, ?)`,
    );
    this.#insertKey = connection.prepare('INSERT INTO input_keys VALUES (?, ?, ?)');
    this.#unread = connection.prepare(`
      SELECT ${INPUT}, key, place, value FROM inbox
      WHERE id > (? << ${ITEM_BITS} | ?) AND id < ${NEXT_SESSION} ORDER BY id`);
    this.#consume = connection.prepare(
      `DELETE FROM inbox WHERE id > ? << ${ITEM_BITS} AND id <= (? << ${ITEM_BITS} | ?)`,
    );
    this.#removeKeys = connection.prepare(`
      DELETE FROM input_keys WHERE session = ? AND key IN (
        SELECT key FROM input_keys WHERE session = ? LIMIT ${KEYS_PER_REMOVAL})`);
  }

  /** Finds the input with this dedupe key. */
  findByKey(session: number, key: string): InputSeq | undefined {
    return this.#findByKey.get(session, key)?.input;
  }

  /** The number of the last input, read or unread. */
  newest(head: SessionHead): InputSeq {
    return Math.max(this.#newest.get(head.id, head.id)?.input ?? 0, head.inboxUpTo);
  }

  /** Appends an input. Its dedupe key must be new. */
  append(
    head: SessionHead,
    key: string,
    place: string,
    value: Packed<Json>,
    blobs: Blobs,
  ): InputSeq {
    const input = this.newest(head) + 1;
    this.#insert.run(head.id, input, key, place, value);
    this.#insertKey.run(head.id, key, input);
    if (blobs.size > 0) this.#blobs.keep(head.id, blobs);
    return input;
  }

  /** Adds the dedupe keys of inputs that a step accepts. They must be new. */
  addKeys(head: SessionHead, keys: readonly string[], inputs: readonly InputSeq[]): void {
    for (const [index, key] of keys.entries())
      this.#insertKey.run(head.id, key, inputs[index] ?? 0);
  }

  unread(key: SessionKey, session: number, after: InputSeq): readonly InboxRow[] {
    return this.#unread.all(session, after, session).map((row) => {
      const description = `input ${row.input} of session ${formatSessionKey(key)}`;
      const value = this.#blobs.unpack(row.value, description);
      return { inputSeq: row.input, input: { place: row.place, value }, key: row.key };
    });
  }

  /** Removes the inputs up to and including `upTo`. Their dedupe keys stay. */
  consume(head: SessionHead, upTo: InputSeq): void {
    if (upTo > head.inboxUpTo) this.#consume.run(head.id, head.id, upTo);
  }

  /** Removes the inputs and some of the dedupe keys of a deleted session. Returns true when nothing is left. */
  removeSome(session: number): boolean {
    this.#consume.run(session, session, 2 ** ITEM_BITS - 1);
    return Number(this.#removeKeys.run(session, session).changes) < KEYS_PER_REMOVAL;
  }
}
