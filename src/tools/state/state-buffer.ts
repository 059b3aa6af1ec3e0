import {
  canonicalJson,
  frozenJson,
  InvalidInputError,
  normalizeStateKey,
  validateStateKey,
  type Json,
} from '../../core/index.ts';
import type { StateWrites } from './state-writes.ts';

/** State as it was when a call started. A `Map` of keys in normal form is one. */
export interface StateSnapshot {
  readonly get: (key: string) => Json | undefined;
}

/**
 * State as a tool sees it: the state of when it started, and its own changes. They are committed with its result, or,
 * if it has none, not at all. Keys with `user:` and `app:` are shared with other sessions, `temp:` ends with the turn.
 * Every method refuses a bad key with `InvalidStateKeyError` and a value that is not JSON with `NotSerializableError`.
 */
export interface ToolState {
  readonly get: (key: string) => Json | undefined;
  readonly set: (key: string, value: Json) => void;
  readonly delete: (key: string) => void;
  /**
   * Sets what `change` makes of the value. It is made again of the value as it is when the result is committed, if others
   * of this session changed it meanwhile: so let it do nothing else. Who also reads the key decided by what it saw: then
   * somebody else's change is a conflict. None is lost.
   */
  readonly update: (key: string, change: (value: Json | undefined) => Json) => void;
  /** Adds to a number, 0 when missing. It merges with what others add meanwhile. @throws InvalidInputError if it holds something else */
  readonly increment: (key: string, by?: number) => void;
  /** Adds to the end of a list, empty when missing. It merges with what others add meanwhile. @throws InvalidInputError if it holds something else */
  readonly append: (key: string, item: Json) => void;
}

type Write =
  | { readonly kind: 'set'; readonly value: Json }
  | { readonly kind: 'delete' }
  | { readonly kind: 'increment'; readonly by: number }
  | { readonly kind: 'append'; readonly items: readonly Json[] };

/** Collects the changes of one tool run over a snapshot that does not change. */
export class StateBuffer implements ToolState {
  readonly #snapshot: StateSnapshot;
  readonly #taken = new Map<string, Json | undefined>();
  #writes = new Map<string, Write>();
  #read = new Set<string>();
  /** By key, what was made of its value by functions alone, in order. */
  readonly #updates = new Map<string, ((value: Json | undefined) => Json)[]>();

  constructor(snapshot: StateSnapshot) {
    this.#snapshot = snapshot;
  }

  readonly get = (key: string): Json | undefined => {
    const name = normalizeKey(key);
    if (!this.#isOwn(name)) this.#read.add(name);
    // It knows the value now: a function of another one would be an answer to something else.
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
   * The changes since the last time, which from then on are part of what `get` builds on.
   * @param current the value of a key as it is now, where that is known: what `update` made is made again of it
   */
  takeWrites(current?: (key: string) => Json | undefined): StateWrites {
    const based = current === undefined ? {} : this.#rebase(current);
    const writes = {
      ...toStateWrites(this.#writes, this.#read),
      ...(Object.keys(based).length > 0 && { based }),
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
        // What it made of the value it saw stands, and is a conflict.
      }
    }
    return based;
  }

  // Its value is then known from here alone, whatever others write.
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

// What the tool changes in its own object afterwards must not change what it wrote.
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
