import * as v from 'valibot';
import { frozenJson } from '../../core/internal.ts';
import { parseWithSchema } from '../../core/validation/parse-with-schema.ts';
import { encodedMarkingSchema } from './encoded-marking-schema.ts';
import {
  jsonMapSchema,
  jsonSchema,
  netVersionSchema,
  numbersSchema,
  toRecordSchema,
} from './json-schemas.ts';
import type { JournalRecord } from './record.ts';

const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const text = v.string();
const texts = v.array(text);

const deposits = v.array(
  v.union([
    v.strictTuple([text, jsonSchema]),
    v.strictTuple([
      text,
      jsonSchema,
      v.object({ due: v.exactOptional(numbersSchema), times: v.exactOptional(positive) }),
    ]),
  ]),
);
const removals = v.array(v.tupleWithRest([text], text));
const firings = v.array(positive);

const outputs = {
  give: v.exactOptional(deposits),
  lists: v.exactOptional(
    v.array(
      v.union([
        v.object({ place: text, append: v.array(jsonSchema) }),
        v.object({ place: text, keepLast: v.number(), prefix: v.array(jsonSchema) }),
        v.object({ place: text, dropLast: v.number() }),
      ]),
    ),
  ),
  maps: v.exactOptional(
    v.array(
      v.object({
        place: text,
        set: v.exactOptional(jsonMapSchema),
        delete: v.exactOptional(texts),
        increment: v.exactOptional(numbersSchema),
        append: v.exactOptional(toRecordSchema(v.array(jsonSchema))),
        replace: v.exactOptional(v.literal(true)),
      }),
    ),
  ),
};

const base = { seq: positive, at: v.number() };
const consumed = {
  take: v.exactOptional(removals),
  reset: v.exactOptional(removals),
  aborted: v.exactOptional(firings),
};

const recordSchema: v.GenericSchema<unknown, JournalRecord> = v.variant('kind', [
  v.object({
    ...base,
    kind: v.literal('injected'),
    give: deposits,
    key: v.exactOptional(text),
    net: v.exactOptional(netVersionSchema),
  }),
  v.object({ ...base, kind: v.literal('fired'), t: text, ...consumed, ...outputs }),
  v.object({
    ...base,
    kind: v.literal('started'),
    t: text,
    ...consumed,
    pin: v.exactOptional(
      v.object({
        tokens: v.exactOptional(removals),
        lists: v.exactOptional(toRecordSchema(v.tuple([v.number(), v.number()]))),
        maps: v.exactOptional(texts),
      }),
    ),
    timeoutAt: v.number(),
  }),
  v.object({
    ...base,
    kind: v.literal('ended'),
    t: text,
    firing: positive,
    outcome: v.picklist(['ok', 'failed', 'timeout', 'cancelled', 'unknown']),
    reason: v.exactOptional(text),
    ...outputs,
  }),
  v.object({
    ...base,
    kind: v.literal('retrying'),
    t: text,
    firing: positive,
    dueAt: v.number(),
    reason: text,
  }),
  v.object({
    ...base,
    kind: v.literal('restarted'),
    t: text,
    firing: positive,
    attempt: positive,
    cause: v.picklist(['retry', 'crash']),
    timeoutAt: v.number(),
  }),
  v.object({
    ...base,
    kind: v.literal('faulted'),
    t: text,
    take: v.exactOptional(removals),
    aborted: v.exactOptional(firings),
    firing: v.exactOptional(positive),
    error: v.object({ code: text, message: text }),
  }),
  v.object({ ...base, kind: v.literal('discarded'), t: text, firing: positive }),
  v.object({
    ...base,
    kind: v.literal('upgraded'),
    from: text,
    to: netVersionSchema,
    moved: v.exactOptional(toRecordSchema(v.nullable(text))),
    clocks: v.exactOptional(toRecordSchema(numbersSchema)),
    give: v.exactOptional(deposits),
  }),
  v.object({ ...base, kind: v.literal('owned'), owner: text, epoch: v.number() }),
  v.object({
    ...base,
    kind: v.literal('loaded'),
    place: text,
    entries: jsonMapSchema,
    versions: numbersSchema,
  }),
  v.object({ ...base, kind: v.literal('trimmed'), marking: encodedMarkingSchema }),
]);

/**
 * Parses journal records that come from outside, for example from a server or a file. Fields that this version does not
 * know are dropped.
 * @returns the records. `applyRecord` checks that they follow from each other.
 * @throws InvalidInputError with the path of the first invalid value, for example `records[3].take`.
 * @throws NotSerializableError if the value is not JSON.
 */
export function parseRecords(records: unknown): readonly JournalRecord[] {
  return parseWithSchema(v.array(recordSchema), frozenJson(records, 'records'), 'records', {
    unknownFields: 'drop',
  });
}
