/** Number of steps that a store reads at a time. */
export const STEPS_PER_PAGE = 32;

interface Numbered {
  readonly seq: number;
  readonly at: number;
}

/**
 * Removes the numbers of records or events, and times equal to `at`, before they are stored: the step's row implies
 * both.
 */
export function withoutNumbers(items: readonly Numbered[], at: number): readonly object[] {
  return items.map((item) => {
    if (item.at === at) {
      const { seq: _, at: __, ...rest } = item;
      return rest;
    }
    const { seq: _, ...rest } = item;
    return rest;
  });
}

/** The inverse of `withoutNumbers`. `last` is the number of the last item. */
export function withNumbers<T extends Numbered>(
  items: readonly Partial<T>[],
  last: number,
  at: number,
): readonly T[] {
  const first = last - items.length + 1;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- restores exactly the members that `withoutNumbers` removed
  return items.map((item, index) => ({ ...item, seq: first + index, at: item.at ?? at }) as T);
}
