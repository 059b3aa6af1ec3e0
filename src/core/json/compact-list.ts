/**
 * Returns a copy of a list that takes no more memory than its items. A list that grows by `push`, `filter` or a spread
 * reserves room for 16 more items, and most lists of a journal record have one or two and are kept.
 */
export function compactList<T>(list: readonly T[]): readonly T[] {
  return list.slice();
}
