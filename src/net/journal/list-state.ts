import type { Json } from '../../core/json/json.ts';
import { ensureFrozen } from './ensure-frozen.ts';
import type { ListChange, RecordSeq } from './record.ts';

/**
 * A list place's content. A `version` is one history of appends: within it `items` only grows, so its first n items
 * never change; compaction and rewinding begin another version with another array.
 */
export interface ListState {
  readonly version: number;
  readonly items: Json[];
  /** By item: the record that brought it. */
  readonly origins: RecordSeq[];
}

/** A list as it was: the first `length` items of a version. */
export interface ListView {
  readonly version: number;
  readonly length: number;
  readonly items: readonly Json[];
}

/** The origin of an item that a partial reader never saw. */
export const UNKNOWN_ORIGIN = 0;

export function getList(lists: ReadonlyMap<string, ListState>, place: string): ListState {
  return lists.get(place) ?? { version: 0, items: [], origins: [] };
}

/** Applies a change of a list. Pure appends keep the version; anything else begins the next one. */
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
  // Holes only for a reader that holds just the newest part: they keep its list as long as the whole one.
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
