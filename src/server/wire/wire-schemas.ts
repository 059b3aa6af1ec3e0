import * as v from 'valibot';

/** Text with at least one character. */
export const nonEmptyText = (max: number): v.GenericSchema<unknown, string> =>
  v.pipe(
    v.string('must be text'),
    v.nonEmpty('must not be empty'),
    v.maxLength(max, `must be at most ${max} characters`),
  );

export const text = (max: number): v.GenericSchema<unknown, string> =>
  v.pipe(v.string('must be text'), v.maxLength(max, `must be at most ${max} characters`));

const pairName = v.pipe(
  v.string(),
  v.nonEmpty('must have no empty name'),
  v.maxLength(64, 'must have names of at most 64 characters'),
);

/** Up to 16 key-value pairs. */
export const metadata: v.GenericSchema<unknown, Readonly<Record<string, string>>> = v.pipe(
  v.record(pairName, text(512), 'must be an object of texts'),
  v.maxEntries(16, 'must be at most 16 pairs'),
);

/** Changes to key-value pairs; null removes a pair. */
export const metadataChange: v.GenericSchema<
  unknown,
  Readonly<Record<string, string | null>>
> = v.record(pairName, v.nullable(text(512)), 'must be an object of texts');

/** The statuses of a session, as `state` of the wire. */
export const SESSION_STATES = [
  'queued',
  'running',
  'waiting',
  'rescheduling',
  'idle',
  'paused',
  'failed',
  'completed',
  'archived',
] as const;

/** Unsupported field: rejected unless it is empty, so that clients do not rely on it. */
export const unsupported: v.GenericSchema<unknown, unknown> = v.optional(
  v.custom<unknown>(
    (value) =>
      value === undefined ||
      value === null ||
      value === false ||
      (Array.isArray(value) && value.length === 0),
    'is not supported by this server: leave it out',
  ),
);

/** An integer in a query string. */
export const integerParameter = (min: number, max: number): v.GenericSchema<unknown, number> =>
  v.pipe(
    v.string(),
    v.digits(`must be a whole number from ${min} to ${max}`),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

/** A boolean in a query string. */
export const booleanParameter: v.GenericSchema<unknown, boolean> = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((value) => value === 'true'),
);

/** An RFC 3339 time in a query string, parsed to epoch milliseconds. */
const timeParameter: v.GenericSchema<unknown, number> = v.pipe(
  v.string(),
  v.check((value) => !Number.isNaN(Date.parse(value)), 'must be a time as of RFC 3339'),
  v.transform((value) => Date.parse(value)),
);

type Entries = Readonly<Record<string, v.GenericSchema<unknown, unknown>>>;

/** Filters by creation time: `created_at[gte]` and the like. */
export const createdAtFilter: {
  readonly [
    Key in 'created_at[gt]' | 'created_at[gte]' | 'created_at[lt]' | 'created_at[lte]'
  ]: v.OptionalSchema<typeof timeParameter, undefined>;
} = {
  'created_at[gt]': v.optional(timeParameter),
  'created_at[gte]': v.optional(timeParameter),
  'created_at[lt]': v.optional(timeParameter),
  'created_at[lte]': v.optional(timeParameter),
} satisfies Entries;

/** The parsed filters, in epoch milliseconds. */
export type CreatedAtFilter = {
  readonly [Key in keyof typeof createdAtFilter]?: number | undefined;
};

/** True if a time satisfies all four bounds. */
export function matchesCreatedAt(at: number, bounds: CreatedAtFilter): boolean {
  const { 'created_at[gt]': gt, 'created_at[gte]': gte } = bounds;
  const { 'created_at[lt]': lt, 'created_at[lte]': lte } = bounds;
  return (
    (gt === undefined || at > gt) &&
    (gte === undefined || at >= gte) &&
    (lt === undefined || at < lt) &&
    (lte === undefined || at <= lte)
  );
}

export const sortOrder: v.OptionalSchema<
  v.PicklistSchema<['asc', 'desc'], string>,
  undefined
> = v.optional(v.picklist(['asc', 'desc'], 'must be asc or desc'));

/** Cursor of a page. Older clients send an empty one for the first page. */
const pageCursor: v.GenericSchema<unknown, string | undefined> = v.pipe(
  text(1000),
  v.transform((value) => (value === '' ? undefined : value)),
);

/** Query parameters of every list. */
export const pagination: {
  readonly limit: v.OptionalSchema<v.GenericSchema<unknown, number>, undefined>;
  readonly page: v.OptionalSchema<v.GenericSchema<unknown, string | undefined>, undefined>;
} = { limit: v.optional(integerParameter(1, 1000)), page: v.optional(pageCursor) };

/** The last time that a date can be, in epoch milliseconds. */
const LAST_TIME = 8.64e15;

/** Converts epoch milliseconds to an RFC 3339 time. A time that no date has is shown as the first or the last one. */
export function toWireTime(at: number): string {
  return new Date(Math.max(-LAST_TIME, Math.min(LAST_TIME, at))).toISOString();
}

/** Applies changes to key-value pairs; null removes a pair. */
export function mergeMetadata(
  present: Readonly<Record<string, string>>,
  change: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> {
  const merged: readonly (readonly [string, string | null])[] = Object.entries({
    ...present,
    ...change,
  });
  return Object.fromEntries(
    merged.flatMap(([key, value]): [string, string][] => (value === null ? [] : [[key, value]])),
  );
}
