/** Selects a page of a list. */
export interface IndexQuery {
  readonly limit?: number | undefined;
  readonly page?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface IndexPage<T> {
  readonly data: readonly T[];
  readonly next: string | null;
  readonly previous: string | null;
}

/** What to read of a list: entries after a cursor. */
export interface ListRange {
  readonly after: string | undefined;
  readonly isAscending: boolean;
  readonly limit: number;
}

const DEFAULT_LIMIT = 20;

/**
 * Reads a page of the entries for which `toItem` returns a value, newest first by default. The cursor of a page is that
 * of the last entry before it, with a leading `<` if the page goes backwards.
 */
export async function readTwoWayPage<Entry extends { readonly cursor: string }, T>(
  { limit = DEFAULT_LIMIT, page, order = 'desc' }: IndexQuery,
  read: (range: ListRange) => Promise<readonly Entry[]>,
  toItem: (entry: Entry) => Promise<T | undefined>,
): Promise<IndexPage<T>> {
  const isBackward = page?.startsWith('<') === true;
  const start = isBackward ? page.slice(1) : page;
  const isAscending = (order === 'asc') !== isBackward;
  const found: { readonly cursor: string; readonly item: T }[] = [];
  let after = start;
  for (;;) {
    const entries = await read({ after, isAscending, limit: limit + 1 });
    for (const entry of entries) {
      after = entry.cursor;
      const item = await toItem(entry);
      if (item !== undefined) found.push({ cursor: entry.cursor, item });
      if (found.length > limit) break;
    }
    if (found.length > limit || entries.length <= limit) break;
  }
  const hasMore = found.length > limit;
  const pageItems = found.slice(0, limit);
  if (isBackward) pageItems.reverse();
  const [first, last] = [pageItems[0]?.cursor, pageItems.at(-1)?.cursor];
  const isAfterFirst = isBackward ? hasMore : start !== undefined;
  return {
    data: pageItems.map(({ item }) => item),
    next: (isBackward || hasMore) && last !== undefined ? last : null,
    previous: isAfterFirst && first !== undefined ? `<${first}` : null,
  };
}
