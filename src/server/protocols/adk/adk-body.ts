import * as v from 'valibot';
import { toCamelKeys } from '../../../adk/internal.ts';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';

/** A body of ADK: its members are in camel case or in snake case. */
export function adkBody<T>(schema: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T> {
  return v.pipe(
    v.custom<JsonObject>(isJsonObject, 'must be an object'),
    v.transform((value): unknown => toCamelKeys(value)),
    schema,
  );
}
