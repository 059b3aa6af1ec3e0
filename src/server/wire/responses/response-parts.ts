import * as v from 'valibot';
import { component } from '../component.ts';

/** A time as of RFC 3339. */
export const time: v.GenericSchema<unknown, string> = v.pipe(v.string(), v.isoTimestamp());

/** A number that counts something. */
export const count: v.GenericSchema<unknown, number> = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
);

/** Key-value pairs of a resource. */
export const pairs: v.GenericSchema<unknown, Readonly<Record<string, string>>> = v.record(
  v.string(),
  v.string(),
);

/** Any JSON object. */
export const jsonObject: v.GenericSchema<unknown, Readonly<Record<string, unknown>>> = v.record(
  v.string(),
  v.unknown(),
);

/** The cursor of another page. */
export const pageCursor: v.GenericSchema<unknown, string | null> = v.pipe(
  v.nullable(v.string()),
  v.description('Pass it as `page` to get the next page. Null on the last page.'),
);

/** One page of a list. */
export function page<T>(
  name: string,
  item: v.GenericSchema<unknown, T>,
): v.GenericSchema<unknown, { readonly data: readonly T[]; readonly next_page: string | null }> {
  return component(
    name,
    'One page of a list.',
    v.object({ data: v.array(item), next_page: pageCursor }),
  );
}

/** The response to a deletion. */
export function deletion<Type extends string>(
  name: string,
  type: Type,
): v.GenericSchema<unknown, { readonly id: string; readonly type: Type }> {
  return component(
    name,
    'The resource was deleted.',
    v.object({ id: v.string(), type: v.literal(type) }),
  );
}
