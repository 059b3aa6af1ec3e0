import { frozenJson } from '../../core/internal.ts';
import { parseWithSchema } from '../../core/validation/parse-with-schema.ts';
import { encodedMarkingSchema } from './encoded-marking-schema.ts';
import { emptyMarking } from './marking.ts';
import type { Marking } from './marking.ts';
import type { EncodedMarking } from './marking-format.ts';
import { restoreAllButLists, restoreEncodedLists } from './restore-marking.ts';
import { toSnapshot } from './snapshot.ts';

/** Returns a marking as JSON that contains all of it. `decodeMarking` is the inverse. */
export function encodeMarking(marking: Marking): EncodedMarking {
  const lists = [...marking.lists].map(
    ([place, { version, items, origins }]) =>
      [place, { version, items: [...items], origins: [...origins] }] as const,
  );
  return { ...toSnapshot(marking), lists: Object.fromEntries(lists) };
}

/**
 * Restores a marking from the JSON that `encodeMarking` returned, possibly in another process. `applyRecord` then
 * applies the records after it.
 * @throws InvalidInputError with the path of the first invalid value.
 * @throws NotSerializableError if the value is not JSON.
 */
export function decodeMarking(value: unknown): Marking {
  const encoded = parseWithSchema(encodedMarkingSchema, frozenJson(value, 'marking'), 'marking', {
    unknownFields: 'drop',
  });
  const marking = emptyMarking();
  restoreEncodedLists(marking.lists, encoded);
  restoreAllButLists(marking, encoded);
  return marking;
}
