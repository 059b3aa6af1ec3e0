import type { Json } from '../../core/index.ts';

/**
 * The state changes of a tool in the form in which they are committed. Keys are normalized, and
 * each key is in only one of `set`, `delete`, `increment` and `append`. Increments and appends are
 * merged with concurrent ones.
 */
export type StateWrites = {
  readonly set: { readonly [key: string]: Json };
  readonly delete: readonly string[];
  readonly increment: { readonly [key: string]: number };
  readonly append: { readonly [key: string]: readonly Json[] };
  /** Keys whose value the tool read. A key that it also wrote must not have changed meanwhile. */
  readonly read: readonly string[];
  /** Keys whose `update` functions ran again on a newer value, with that value. */
  readonly based?: { readonly [key: string]: Json };
};

/** True if nothing was written; keys may have been read. */
export function isReadOnly(writes: StateWrites): boolean {
  return (
    writes.delete.length === 0 &&
    [writes.set, writes.increment, writes.append].every((part) => Object.keys(part).length === 0)
  );
}
