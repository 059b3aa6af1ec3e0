import * as v from 'valibot';
import { frozenJson } from '../../core/internal.ts';
import { parseWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { Json } from '../../core/index.ts';
import { emptyMarking } from './marking.ts';
import type { Marking } from './marking.ts';
import { jsonSchema, netVersionSchema } from './parse-records.ts';
import type { RecordSeq } from './record.ts';
import { restoreAllButLists, SNAPSHOT_FORMAT, toSnapshot } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

/** A marking as JSON, with the items of its lists. `decodeMarking` restores it without the journal. */
export interface EncodedMarking extends Omit<Snapshot, 'lists'> {
  readonly lists: Readonly<Record<string, EncodedList>>;
}

/** The content of a list place as JSON; `origins` has the record that added each item. */
export interface EncodedList {
  readonly version: number;
  readonly items: readonly Json[];
  readonly origins: readonly RecordSeq[];
}

const numbers = v.record(v.string(), v.number());
const jsonMap = v.record(v.string(), jsonSchema);
const tokenRows = v.record(
  v.string(),
  v.array(
    v.union([
      v.strictTuple([v.string(), v.number(), jsonSchema]),
      v.strictTuple([v.string(), v.number(), jsonSchema, numbers]),
    ]),
  ),
);

const encodedMarkingSchema: v.GenericSchema<unknown, EncodedMarking> = v.object({
  format: v.literal(SNAPSHOT_FORMAT),
  net: netVersionSchema,
  seq: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  at: v.number(),
  tokens: tokenRows,
  firings: v.array(
    v.object({
      firing: v.number(),
      t: v.string(),
      startedAt: v.number(),
      inputs: tokenRows,
      read: tokenRows,
      lists: v.record(
        v.string(),
        v.union([
          v.strictTuple([v.number(), v.number()]),
          v.strictTuple([v.number(), v.number(), v.array(jsonSchema)]),
        ]),
      ),
      maps: v.record(v.string(), jsonMap),
      shared: numbers,
      attempt: v.number(),
      crashes: v.number(),
      timeoutAt: v.number(),
      retryAt: v.exactOptional(v.number()),
      reason: v.exactOptional(v.string()),
    }),
  ),
  lists: v.record(
    v.string(),
    v.object({ version: v.number(), items: v.array(jsonSchema), origins: v.array(v.number()) }),
  ),
  maps: v.record(v.string(), jsonMap),
  shared: numbers,
});

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
  for (const [place, { version, items, origins }] of Object.entries(encoded.lists)) {
    marking.lists.set(place, { version, items: [...items], origins: [...origins] });
  }
  restoreAllButLists(marking, encoded);
  return marking;
}
