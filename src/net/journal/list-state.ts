import type { Json } from '../../core/index.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import type { ListChange, RecordSeq } from './record.ts';

/**
 * The content of a list place. Within one `version` the array `items` only grows, so its first n items never change.
 * Compaction and rewind begin a new version with a new array.
 */
export interface ListState {
  readonly version: number;
  readonly items: Json[];
  /** For each item, the record that added it. */
  readonly origins: RecordSeq[];
}

/** A list at an earlier moment: the first `length` items of a version. */
export interface ListView {
  readonly version: number;
  readonly length: number;
  readonly items: readonly Json[];
}

/** The origin of an item that a partial reader does not have. */
export const UNKNOWN_ORIGIN = 0;

/** Returns the list of a place, or a new empty list of version 0. */
export function getList(lists: ReadonlyMap<string, ListState>, place: string): ListState {
  return lists.get(place) ?? { version: 0, items: [], origins: [] };
}

/** The newest frozen copy of each array of items. */
const frozenCopies = new WeakMap<readonly Json[], readonly Json[]>();

/**
 * Returns the first `length` items of one version of a list as a frozen array, which stays the same when the list
 * changes. Reads of the same length share one copy, so that the attempts between two appends do not copy the list again.
 */
export function readItems(items: readonly Json[], length: number): readonly Json[] {
  const known = frozenCopies.get(items);
  if (known?.length === length) return known;
  const copy = Object.freeze(items.slice(0, length));
  frozenCopies.set(items, copy);
  return copy;
}

/** Applies a change to a list. An append keeps the version; any other change begins the next version. */
export function applyListChange(
  lists: Map<string, ListState>,
  seq: RecordSeq,
  change: ListChange,
): void {
  const list = getList(lists, change.place);
  if ('append' in change) {
    for (const item of change.append) {
      list.items.push(ensureFrozen(item));
      list.origins.push(seq);
    }
    lists.set(change.place, list);
    return;
  }
  const version = list.version + 1;
  if ('dropLast' in change) {
    const length = Math.max(0, list.items.length - change.dropLast);
    lists.set(change.place, {
      version,
      items: list.items.slice(0, length),
      origins: list.origins.slice(0, length),
    });
    return;
  }
  const from = Math.max(0, list.items.length - change.keepLast);
  // A reader that has only the newest part of the list gets null items for the rest, to keep the full length.
  const holes = Math.max(0, change.keepLast - list.items.length);
  const before = [...change.prefix.map(ensureFrozen), ...Array<Json>(holes).fill(null)];
  const origins = [
    ...change.prefix.map(() => seq),
    ...Array<RecordSeq>(holes).fill(UNKNOWN_ORIGIN),
  ];
  lists.set(change.place, {
    version,
    items: [...before, ...list.items.slice(from)],
    origins: [...origins, ...list.origins.slice(from)],
  });
}
