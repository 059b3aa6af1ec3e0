import {
  applyKeyWrite,
  isOverwrite,
  mergeKeyWrites,
  omitUndefined,
  toStateWrites,
  type KeyWrite,
} from '../../core/internal.ts';
import {
  canonicalJson,
  frozenJson,
  InvalidInputError,
  normalizeStateKey,
  validateStateKey,
  type Json,
  type StateWrites,
} from '../../core/index.ts';

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
  /** Returns the value, or `fallback` if there is none. An object or a list is frozen. */
  readonly get: (key: string, fallback?: Json) => Json | undefined;
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

/**
 * The state changes of a tool in the form in which they are committed, and what the tool read.
 * Keys are normalized, and each key is in only one of `set`, `delete`, `increment` and `append`.
 */
export interface BufferedWrites extends Required<StateWrites> {
  /** Keys whose value the tool read. A key that it also wrote must not have changed meanwhile. */
  readonly read: readonly string[];
  /** Keys whose `update` functions ran again on a newer value, with that value. */
  readonly based?: { readonly [key: string]: Json };
}

/** Collects the changes of one tool run on top of an immutable snapshot. */
export class StateBuffer implements ToolState {
  readonly #snapshot: StateSnapshot;
  readonly #taken = new Map<string, Json | undefined>();
  #writes = new Map<string, KeyWrite>();
  #read = new Set<string>();
  /**
   * By key: the functions that alone produced its value, in order. They can run again on a newer
   * value.
   */
  readonly #updates = new Map<string, ((value: Json | undefined) => Json)[]>();

  constructor(snapshot: StateSnapshot) {
    this.#snapshot = snapshot;
  }

  readonly get = (key: string, fallback?: Json): Json | undefined => {
    const name = normalizeKey(key);
    if (!this.#isOwn(name)) this.#read.add(name);
    // The tool has seen this value, so a later update depends on it and must not run on another
    // one.
    this.#updates.delete(name);
    const value = this.#getValue(name);
    return value === undefined ? fallback : value;
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
    if (typeof (this.#getValue(name) ?? 0) !== 'number') throw wrongType(name, 'a number');
    this.#addTo(name, { kind: 'increment', by });
  };

  readonly append = (key: string, item: Json): void => {
    const name = normalizeKey(key);
    if (!Array.isArray(this.#getValue(name) ?? [])) throw wrongType(name, 'a list');
    this.#addTo(name, { kind: 'append', items: [freezeCopy(item, name)] });
  };

  /**
   * Returns the changes since the last call. Later reads include them.
   * @param current reads the current value of a key, if the caller knows it; `update` functions
   *   then run again on it
   */
  takeWrites(current?: (key: string) => Json | undefined): BufferedWrites {
    const based = current === undefined ? {} : this.#rebase(current);
    const writes = {
      ...toStateWrites(this.#writes),
      read: [...this.#read],
      ...omitUndefined({ based: Object.keys(based).length > 0 ? based : undefined }),
    };
    this.#updates.clear();
    for (const name of this.#writes.keys()) this.#taken.set(name, this.#getValue(name));
    this.#writes = new Map();
    this.#read = new Set();
    return writes;
  }

  #addTo(name: string, write: KeyWrite): void {
    this.#updates.get(name)?.push((value) => applyKeyWrite(value, write) ?? null);
    this.#writes.set(name, mergeKeyWrites(this.#writes.get(name), write));
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
    const write = this.#writes.get(name);
    return write !== undefined && isOverwrite(write);
  }

  #getValue(name: string): Json | undefined {
    const before = this.#taken.has(name) ? this.#taken.get(name) : this.#snapshot.get(name);
    const write = this.#writes.get(name);
    return write === undefined ? before : applyKeyWrite(before, write);
  }
}

/** The state of a tool without `takeWrites`: a tool must not take its own writes. */
export function toToolState(buffer: StateBuffer): ToolState {
  const { get, set, delete: remove, update, increment, append } = buffer;
  return { get, set, delete: remove, update, increment, append };
}

function normalizeKey(key: string): string {
  validateStateKey(key);
  return normalizeStateKey(key);
}

// A tool may mutate its object later; that must not change the write.
function freezeCopy(value: Json, name: string): Json {
  return frozenJson(value, `state[${JSON.stringify(name)}]`);
}

function wrongType(name: string, wanted: string): InvalidInputError {
  return new InvalidInputError(`state[${JSON.stringify(name)}]`, `does not hold ${wanted}.`);
}
