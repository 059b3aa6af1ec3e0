interface Numbered {
  readonly seq: number;
  readonly at: number;
}

/** Records or events as a step's row keeps them: without the number, which follows from the row, and the row's own time. */
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

/** The inverse of `withoutNumbers`, for items of which the last has the number `last`. */
export function withNumbers<T extends Numbered>(
  items: readonly Partial<T>[],
  last: number,
  at: number,
): readonly T[] {
  const first = last - items.length + 1;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was taken away is put back: the whole is again what `withoutNumbers` was given.
  return items.map((item, index) => ({ ...item, seq: first + index, at: item.at ?? at }) as T);
}
