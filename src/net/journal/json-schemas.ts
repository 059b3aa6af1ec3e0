import * as v from 'valibot';
import { isJsonObject } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';

/** The value was copied as JSON before, so only its absence is left to detect. */
export const jsonSchema: v.GenericSchema<unknown, Json> = v.custom<Json>(
  (value) => value !== undefined,
  'must be a JSON value',
);

/**
 * The schema of an object whose names are those of places, transitions or state keys. Any name stays: `record` of valibot
 * leaves out `constructor` and `prototype`.
 */
export function toRecordSchema<T>(
  schema: v.GenericSchema<unknown, T>,
): v.GenericSchema<unknown, Readonly<Record<string, T>>> {
  return v.pipe(
    v.custom<JsonObject>(isJsonObject, 'must be an object'),
    v.rawTransform(({ dataset: { value: input }, addIssue, NEVER }) => {
      const entries: (readonly [string, T])[] = [];
      for (const [key, value] of Object.entries(input)) {
        const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true });
        if (!success) {
          const [{ message, path = [] }] = issues;
          const item = { type: 'object', origin: 'value', input, key, value } as const;
          addIssue({ message, path: [item, ...path] });
          return NEVER;
        }
        entries.push([key, output]);
      }
      return Object.fromEntries(entries);
    }),
  );
}

/** The schema of an object with any members. */
export const jsonMapSchema: v.GenericSchema<unknown, JsonObject> = v.custom<JsonObject>(
  isJsonObject,
  'must be an object',
);

/** The schema of numbers by name. */
export const numbersSchema: v.GenericSchema<
  unknown,
  Readonly<Record<string, number>>
> = toRecordSchema(v.number());

/** The schema of the version of a net. */
export const netVersionSchema: v.GenericSchema<
  unknown,
  { readonly hash: string; readonly versions: Readonly<Record<string, number>> }
> = v.object({ hash: v.string(), versions: numbersSchema });
