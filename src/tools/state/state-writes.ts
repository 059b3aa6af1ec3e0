import type { Json } from '../../core/index.ts';

/**
 * What a tool did to state, in the form that can be committed. Keys are in normal form, and each stands in one of
 * `set`, `delete`, `increment` and `append` only. The last two are merged with what others wrote meanwhile.
 */
export type StateWrites = {
  readonly set: { readonly [key: string]: Json };
  readonly delete: readonly string[];
  readonly increment: { readonly [key: string]: number };
  readonly append: { readonly [key: string]: readonly Json[] };
  /** Keys whose value it saw. One of them that it also wrote must not have changed meanwhile. */
  readonly read: readonly string[];
  /** Of these keys another value than it saw, of which what it sets was made again. */
  readonly based?: { readonly [key: string]: Json };
};

/** True when nothing was written; something may have been read. */
export function isReadOnly(writes: StateWrites): boolean {
  return (
    writes.delete.length === 0 &&
    [writes.set, writes.increment, writes.append].every((part) => Object.keys(part).length === 0)
  );
}
