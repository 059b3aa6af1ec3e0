import type { Json } from '../json/json.ts';

/** A write to one key. */
export type KeyWrite =
  | { readonly kind: 'set'; readonly value: Json }
  | { readonly kind: 'delete' }
  /** Adds to a number. A value that is not a number counts as 0. */
  | { readonly kind: 'increment'; readonly by: number }
  /** Appends to a list. A value that is not a list counts as empty. */
  | { readonly kind: 'append'; readonly items: readonly Json[] };

/** Returns the value of a key after a write; `undefined` if the key is missing. */
export function applyKeyWrite(before: Json | undefined, write: KeyWrite): Json | undefined {
  switch (write.kind) {
    case 'set':
      return write.value;
    case 'delete':
      return undefined;
    case 'increment':
      return (typeof before === 'number' ? before : 0) + write.by;
    case 'append':
      return Object.freeze([...(isList(before) ? before : []), ...write.items]);
    default:
      return write satisfies never;
  }
}

/** Merges two writes to one key into one. The second applies after the first. */
export function mergeKeyWrites(first: KeyWrite | undefined, second: KeyWrite): KeyWrite {
  if (first === undefined || isOverwrite(second)) return second;
  if (first.kind === 'increment' && second.kind === 'increment')
    return { kind: 'increment', by: first.by + second.by };
  if (first.kind === 'append' && second.kind === 'append')
    return { kind: 'append', items: [...first.items, ...second.items] };
  // The second write ignores a value of another type, so the value before both does not matter.
  const value = applyKeyWrite(first.kind === 'set' ? first.value : undefined, second);
  return value === undefined ? { kind: 'delete' } : { kind: 'set', value };
}

/** True if the value after the write does not depend on the value before it. */
export function isOverwrite({ kind }: KeyWrite): boolean {
  return kind === 'set' || kind === 'delete';
}

// Array.isArray alone does not narrow a readonly array out of a union.
function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
