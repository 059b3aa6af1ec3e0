import * as v from 'valibot';
import type { Content, Json, JsonObject } from '../../core/index.ts';

// Input from outside is parsed where it enters. Inside the net a schema checks only the shape that transitions rely on.

/** Any JSON value that is present. */
export const json = <T extends Json | JsonObject>(): v.GenericSchema<unknown, T> =>
  v.custom<T>((value) => value !== undefined);

/** Any object; its members are not checked. */
export const object = <T>(): v.GenericSchema<unknown, T> =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, 'must be an object');

/** An object with `role` and a list of `parts`; the parts are not checked. */
export const contentSchema: v.GenericSchema<unknown, Content> = v.custom<Content>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    'role' in value &&
    'parts' in value &&
    Array.isArray(value.parts),
  'must be content: { role, parts }',
);
