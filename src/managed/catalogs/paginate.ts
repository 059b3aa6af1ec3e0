import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Page, PageOptions } from '../interface/managed-runtime.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

/** An entry of a listing. `item` is absent if the entry is hidden. */
export interface ListedEntry<T> {
  readonly id: string;
  readonly item: T | undefined;
}

/**
 * Reads one page of visible items from a listing that may contain hidden entries. Reads on until the page is full or
 * the listing ends.
 * @throws InvalidInputError if `limit` is out of range
 */
export async function paginate<T>(
  { limit = DEFAULT_LIMIT, after }: PageOptions,
  read: (from: {
    readonly after: string | undefined;
    readonly limit: number;
  }) => Promise<readonly ListedEntry<T>[]>,
): Promise<Page<T>> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new InvalidInputError(
      'limit',
      `must be a whole number from 1 to ${MAX_LIMIT}; it is ${limit}.`,
    );
  const shown: { readonly id: string; readonly item: T }[] = [];
  let last = after;
  for (;;) {
    // Read one more than fits, to know whether there is a next page.
    const listed = await read({ after: last, limit: limit + 1 });
    for (const { id, item } of listed) if (item !== undefined) shown.push({ id, item });
    last = listed.at(-1)?.id;
    if (shown.length > limit || listed.length <= limit) break;
  }
  const data = shown.slice(0, limit);
  const next = shown.length > limit ? data.at(-1)?.id : undefined;
  return { data: data.map(({ item }) => item), ...omitUndefined({ next }) };
}
