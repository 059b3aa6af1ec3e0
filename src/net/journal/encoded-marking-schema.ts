import * as v from 'valibot';
import { jsonSchema, netVersionSchema } from './json-schemas.ts';
import { SNAPSHOT_FORMAT } from './marking-format.ts';
import type { EncodedMarking } from './marking-format.ts';

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
