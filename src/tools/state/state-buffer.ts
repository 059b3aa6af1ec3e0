import { omitUndefined } from '../../core/internal.ts';
import {
  canonicalJson,
  frozenJson,
  InvalidInputError,
  normalizeStateKey,
  validateStateKey,
  type Json,
} from '../../core/index.ts';
import type { StateWrites } from './state-writes.ts';

/** Read access to state as it was when a call started, by normalized key. A `Map` is one. */
export interface StateSnapshot {
  readonly get: (key: string) => Json | undefined;
}

/**
 * State as a tool sees it: the state at the start of the call with the tool's own changes. The
 * changes are committed together with the tool's result, or not at all if there is none. The
 * prefixes `user:` and `app:` share a key with other sessions; a key with `temp:` is removed when
 * the turn ends.
 *
 * Every method throws `InvalidStateKeyError` for an invalid key and `NotSerializableError` for a
 * value that is not JSON.
 */
export interface ToolState {
  readonly get: (key: string) => Json | undefined;
  readonly set: (key: string, value: Json) => void;
  readonly delete: (key: string) => void;
  /**
   * Sets the value to the result of `change`. If the session changed the key meanwhile, `change`
   * runs again on the current value when the result is committed, so it must be a pure function. A
   * tool that also read the key with `get` decided by the old value: a concurrent change is then a
   * conflict. No change is lost.
   */
  readonly update: (key: string, change: (value: Json | undefined) => Json) => void;
  /**
   * Adds to a number; a missing value counts as 0. Concurrent increments are merged. Default: 1.
   * @throws InvalidInputError if the value is not a number or `by` is not finite
   */
  readonly increment: (key: string, by?: number) => void;
  /**
   * Appends to a list; a missing value counts as empty. Concurrent appends are merged.
   * @throws InvalidInputError if the value is not a list
   */
  readonly append: (key: string, item: Json) => void;
}

type Write =
  | { readonly kind: 'set'; readonly value: Json }
  | { readonly kind: 'delete' }
  | { readonly kind: 'increment'; readonly by: number }
  | { readonly kind: 'append'; readonly items: readonly Json[] };

/** Collects the changes of one tool run on top of an immutable snapshot. */
export class StateBuffer implements ToolState {
  readonly #snapshot: StateSnapshot;
  readonly #taken = new Map<string, Json | undefined>();
  #writes = new Map<string, Write>();
  #read = new Set<string>();
  /**
   * By key: the functions that alone produced its value, in order. They can run again on a newer
   * value.
   */
  readonly #updates = new Map<string, ((value: Json | undefined) => Json)[]>();

  constructor(snapshot: StateSnapshot) {
    this.#snapshot = snapshot;
  }

  readonly get = (key: string): Json | undefined => {
    const name = normalizeKey(key);
    if (!this.#isOwn(name)) this.#read.add(name);
    // The tool has seen this value, so a later update depends on it and must not run on another
    // one.
    this.#updates.delete(name);
    return this.#getValue(name);
  };

  readonly set = (key: string, value: Json): void => {
    const name = normalizeKey(key);
    this.#updates.delete(name);
    this.#writes.set(name, { kind: 'set', value: freezeCopy(value, name) });
  };

  readonly delete = (key: string): void => {
    const name = normalizeKey(key);
    this.#updates.delete(name);
    this.#writes.set(name, { kind: 'delete' });
  };

  readonly update = (key: string, change: (value: Json | undefined) => Json): void => {
    const name = normalizeKey(key);
    const known = this.#updates.get(name);
    const isFirst = known === undefined && !this.#isOwn(name) && !this.#read.has(name);
    const value = freezeCopy(change(this.#getValue(name)), name);
    if (isFirst && this.#writes.has(name)) this.#read.add(name);
    else if (isFirst) this.#updates.set(name, [change]);
    else known?.push(change);
    if (!this.#isOwn(name)) this.#read.add(name);
    this.#writes.set(name, { kind: 'set', value });
  };

  readonly increment = (key: string, by = 1): void => {
    const name = normalizeKey(key);
    if (!Number.isFinite(by)) throw new InvalidInputError('by', 'must be a finite number.');
    const before = this.#getValue(name) ?? 0;
    if (typeof before !== 'number') throw wrongType(name, 'a number');
    const write = this.#writes.get(name);
    this.#updates.get(name)?.push((value) => (typeof value === 'number' ? value : 0) + by);
    if (this.#isOwn(name)) this.#writes.set(name, { kind: 'set', value: before + by });
    else
      this.#writes.set(name, {
        kind: 'increment',
        by: by + (write?.kind === 'increment' ? write.by : 0),
      });
  };

  readonly append = (key: string, item: Json): void => {
    const name = normalizeKey(key);
    const before = this.#getValue(name) ?? [];
    if (!isList(before)) throw wrongType(name, 'a list');
    const added = freezeCopy(item, name);
    const write = this.#writes.get(name);
    this.#updates.get(name)?.push((value = []) => [...(isList(value) ? value : []), added]);
    if (this.#isOwn(name))
      this.#writes.set(name, { kind: 'set', value: Object.freeze([...before, added]) });
    else {
      const items = write?.kind === 'append' ? write.items : [];
      this.#writes.set(name, { kind: 'append', items: [...items, added] });
    }
  };

  /**
   * Returns the changes since the last call. Later reads include them.
   * @param current reads the current value of a key, if the caller knows it; `update` functions
   *   then run again on it
   */
  takeWrites(current?: (key: string) => Json | undefined): StateWrites {
    const based = current === undefined ? {} : this.#rebase(current);
    const writes = {
      ...toStateWrites(this.#writes, this.#read),
      ...omitUndefined({ based: Object.keys(based).length > 0 ? based : undefined }),
    };
    this.#updates.clear();
    for (const name of this.#writes.keys()) this.#taken.set(name, this.#getValue(name));
    this.#writes = new Map();
    this.#read = new Set();
    return writes;
  }

  #rebase(current: (key: string) => Json | undefined): Record<string, Json> {
    const based: Record<string, Json> = {};
    for (const [name, changes] of this.#updates) {
      const base = current(name);
      const before = this.#taken.has(name) ? this.#taken.get(name) : this.#snapshot.get(name);
      if (canonicalJson(base ?? null) === canonicalJson(before ?? null)) continue;
      try {
        const value = changes.reduce<Json | undefined>((made, change) => change(made), base);
        this.#writes.set(name, { kind: 'set', value: freezeCopy(value ?? null, name) });
        based[name] = base ?? null;
      } catch {
        // The write computed from the old value remains; the commit reports it as a conflict.
      }
    }
    return based;
  }

  // After `set` or `delete` the value depends on this buffer alone, whatever others write.
  #isOwn(name: string): boolean {
    const kind = this.#writes.get(name)?.kind;
    return kind === 'set' || kind === 'delete';
  }

  #getValue(name: string): Json | undefined {
    const before = this.#taken.has(name) ? this.#taken.get(name) : this.#snapshot.get(name);
    const write = this.#writes.get(name);
    if (write === undefined) return before;
    if (write.kind === 'set') return write.value;
    if (write.kind === 'delete') return undefined;
    if (write.kind === 'increment') return (typeof before === 'number' ? before : 0) + write.by;
    return Object.freeze([...(isList(before) ? before : []), ...write.items]);
  }
}

function normalizeKey(key: string): string {
  validateStateKey(key);
  return normalizeStateKey(key);
}

// A tool may mutate its object later; that must not change the write.
function freezeCopy(value: Json, name: string): Json {
  return frozenJson(value, `state[${JSON.stringify(name)}]`);
}

// Array.isArray alone does not narrow a readonly array out of a union.
function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function wrongType(name: string, wanted: string): InvalidInputError {
  return new InvalidInputError(`state[${JSON.stringify(name)}]`, `does not hold ${wanted}.`);
}

function toStateWrites(writes: ReadonlyMap<string, Write>, read: ReadonlySet<string>): StateWrites {
  const all = [...writes];
  return {
    set: Object.fromEntries(all.flatMap(([key, w]) => (w.kind === 'set' ? [[key, w.value]] : []))),
    delete: all.flatMap(([key, w]) => (w.kind === 'delete' ? [key] : [])),
    increment: Object.fromEntries(
      all.flatMap(([key, w]) => (w.kind === 'increment' ? [[key, w.by]] : [])),
    ),
    append: Object.fromEntries(
      all.flatMap(([key, w]) => (w.kind === 'append' ? [[key, w.items]] : [])),
    ),
    read: [...read],
  };
}
