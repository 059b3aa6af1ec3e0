import { InvalidInputError, newSessionUid, type SessionKey } from '../../core/index.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { checkChangeLimit } from '../rules/change-cursor.ts';
import type { SessionChangePage, SessionChangeQuery, SessionRowChange } from '../store.ts';
import type { MemorySession } from './memory-session.ts';

interface Entry {
  readonly number: number;
  readonly session: MemorySession;
}

/** The entries that are not the last of their key are dropped when there are this many more entries than keys. */
const MAX_STALE = 1000;

/** The changes of sessions, in order. Only the last change of each session is kept. */
export class MemoryChanges {
  /** Distinguishes the cursors of this store from those of an earlier process. */
  readonly #name: string = newSessionUid();
  #entries: Entry[] = [];
  /** The number of the last change, by key. */
  readonly #lastByKey = new Map<string, number>();
  /** The number of the creation, by session. */
  readonly #created = new WeakMap<MemorySession, number>();
  #last = 0;

  add(session: MemorySession): void {
    const number = ++this.#last;
    if (!this.#created.has(session)) this.#created.set(session, number);
    this.#entries.push({ number, session });
    this.#lastByKey.set(toMapKey(session.key), number);
    if (this.#entries.length > 2 * this.#lastByKey.size + MAX_STALE)
      this.#entries = this.#entries.filter((entry) => this.#isLast(entry));
  }

  read({ appName, after, limit }: SessionChangeQuery): SessionChangePage {
    checkChangeLimit(limit);
    if (after === undefined)
      return { changes: [], cursor: this.#toCursor(this.#last), isLast: true };
    const from = this.#parseCursor(after);
    const changes: SessionRowChange[] = [];
    for (let index = this.#findIndexAfter(from); index < this.#entries.length; index++) {
      const entry = this.#entries[index];
      if (entry === undefined || !this.#isLast(entry)) continue;
      const { session, number } = entry;
      const { key } = session;
      if (key.appName !== appName) continue;
      changes.push(this.#toChange(key, entry, from));
      if (changes.length === limit)
        return { changes, cursor: this.#toCursor(number), isLast: false };
    }
    return { changes, cursor: this.#toCursor(this.#last), isLast: true };
  }

  #toChange(key: SessionKey, { session, number }: Entry, from: number): SessionRowChange {
    const cursor = this.#toCursor(number);
    if (session.deleted) return { type: 'deleted', key, uid: session.uid, cursor };
    const isNew = (this.#created.get(session) ?? 0) > from;
    return { type: isNew ? 'created' : 'changed', key, row: session.toRow(), cursor };
  }

  #isLast({ number, session }: Entry): boolean {
    return this.#lastByKey.get(toMapKey(session.key)) === number;
  }

  /** Finds the index of the first entry after a number. */
  #findIndexAfter(number: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.number ?? Infinity) <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #toCursor(number: number): string {
    return `${number}.${this.#name}`;
  }

  #parseCursor(text: string): number {
    const [number = '', name] = text.split('.');
    if (name === this.#name && /^\d{1,15}$/.test(number) && Number(number) <= this.#last)
      return Number(number);
    throw new InvalidInputError('after', `"${text}" is not a position of this store.`);
  }
}
