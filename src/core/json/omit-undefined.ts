/** An object type without `undefined` values: a field that may be undefined becomes optional. */
export type OmitUndefined<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Copies an object without the fields whose value is `undefined`.
 *
 * Stored JSON, wire bodies and options of other packages distinguish an absent field from an
 * undefined one, and so does the compiler option `exactOptionalPropertyTypes`.
 */
export function omitUndefined<const T extends object>(fields: T): OmitUndefined<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter removes what the type removes
  return Object.fromEntries(kept) as OmitUndefined<T>;
}
