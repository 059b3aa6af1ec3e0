import * as v from 'valibot';
import {
  jsonMapSchema,
  jsonSchema,
  netVersionSchema,
  numbersSchema,
  toRecordSchema,
} from './json-schemas.ts';
import { SNAPSHOT_FORMAT } from './marking-format.ts';
import type { EncodedMarking } from './marking-format.ts';

const tokenRows = toRecordSchema(
  v.array(
    v.union([
      v.strictTuple([v.string(), v.number(), jsonSchema]),
      v.strictTuple([v.string(), v.number(), jsonSchema, numbersSchema]),
    ]),
  ),
);

/** The schema of a marking with the items of its lists. */
export const encodedMarkingSchema: v.GenericSchema<unknown, EncodedMarking> = v.object({
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
      lists: toRecordSchema(
        v.union([
          v.strictTuple([v.number(), v.number()]),
          v.strictTuple([v.number(), v.number(), v.array(jsonSchema)]),
        ]),
      ),
      maps: toRecordSchema(jsonMapSchema),
      shared: numbersSchema,
      attempt: v.number(),
      crashes: v.number(),
      timeoutAt: v.number(),
      retryAt: v.exactOptional(v.number()),
      reason: v.exactOptional(v.string()),
    }),
  ),
  lists: toRecordSchema(
    v.object({ version: v.number(), items: v.array(jsonSchema), origins: v.array(v.number()) }),
  ),
  maps: toRecordSchema(jsonMapSchema),
  shared: numbersSchema,
});
