import { InvalidInputError, newSessionUid } from '../../core/index.ts';
import { toMapKey } from '../encoding/map-key.ts';
import { checkChangeLimit } from '../rules/change-cursor.ts';
import type { SessionChangePage, SessionChangeQuery, SessionRowChange } from '../store.ts';
import type { MemorySession, SessionChangeMark } from './memory-session.ts';

interface Entry {
  readonly number: number;
  readonly changed: SessionChangeMark;
}

/** The entries that are not the last of their key are dropped when there are this many more, and a quarter of the keys. */
const MAX_STALE = 1000;

/** The changes of sessions, in order. Only the last change of each session is kept. */
export class MemoryChanges {
  /** Distinguishes the cursors of this store from those of an earlier process. */
  readonly #name: string = newSessionUid();
  #entries: Entry[] = [];
  /** The deleted sessions, by key. */
  readonly #deleted = new Map<string, SessionChangeMark>();
  /** Number of keys of sessions that exist or were deleted. */
  #keys = 0;
  #last = 0;

  add(session: MemorySession): void {
    const number = ++this.#last;
    const changed = (session.changed ??= this.#create(session, number));
    changed.last = number;
    if (session.deleted) {
      changed.session = undefined;
      this.#deleted.set(toMapKey(changed.key), changed);
    }
    this.#entries.push({ number, changed });
    if (this.#entries.length > 1.25 * this.#keys + MAX_STALE)
      this.#entries = this.#entries.filter(isLast);
  }

  read({ appName, after, limit }: SessionChangeQuery): SessionChangePage {
    checkChangeLimit(limit);
    if (after === undefined)
      return { changes: [], cursor: this.#toCursor(this.#last), isLast: true };
    const from = this.#parseCursor(after);
    const changes: SessionRowChange[] = [];
    for (let index = this.#findIndexAfter(from); index < this.#entries.length; index++) {
      const entry = this.#entries[index];
      if (entry === undefined || !isLast(entry)) continue;
      if (entry.changed.key.appName !== appName) continue;
      changes.push(this.#toChange(entry, from));
      if (changes.length === limit)
        return { changes, cursor: this.#toCursor(entry.number), isLast: false };
    }
    return { changes, cursor: this.#toCursor(this.#last), isLast: true };
  }

  #create(session: MemorySession, number: number): SessionChangeMark {
    const { key, uid } = session;
    const earlier = this.#deleted.size === 0 ? undefined : this.#deleted.get(toMapKey(key));
    if (earlier === undefined) this.#keys++;
    else {
      earlier.last = undefined;
      this.#deleted.delete(toMapKey(key));
    }
    return { key, uid, session, created: number, last: number };
  }

  #toChange({ number, changed }: Entry, from: number): SessionRowChange {
    const { key, uid, session, created } = changed;
    const cursor = this.#toCursor(number);
    if (session === undefined) return { type: 'deleted', key, uid, cursor };
    return { type: created > from ? 'created' : 'changed', key, row: session.toRow(), cursor };
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

function isLast({ number, changed }: Entry): boolean {
  return changed.last === number;
}
