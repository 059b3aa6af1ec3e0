import * as v from 'valibot';
import type { Json } from '../../core/index.ts';

/** The value was copied as JSON before, so only its absence is left to detect. */
export const jsonSchema: v.GenericSchema<unknown, Json> = v.custom<Json>(
  (value) => value !== undefined,
  'must be a JSON value',
);

/** The schema of the version of a net. */
export const netVersionSchema: v.GenericSchema<
  unknown,
  { readonly hash: string; readonly versions: Readonly<Record<string, number>> }
> = v.object({ hash: v.string(), versions: v.record(v.string(), v.number()) });
