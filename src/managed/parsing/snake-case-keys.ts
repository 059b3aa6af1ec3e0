import * as v from 'valibot';
import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';

/** Converts the keys of an object to snake case. Values are not changed. */
export function toSnakeCaseKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]): [string, Json] => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** A schema for an object with keys in snake case or camel case. */
export function anyCaseObject<T>(schema: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T> {
  return v.pipe(
    v.custom<JsonObject>(isJsonObject, 'must be an object'),
    v.transform((object): unknown => toSnakeCaseKeys(object)),
    schema,
  );
}
