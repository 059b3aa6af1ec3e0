import * as v from 'valibot';

/** The largest token of a live place, in bytes of JSON. Media never enters a net. */
export const MAX_SIGNAL_BYTES: number = 64 * 1024;
/** The longest text of one signal, in characters. In the worst case a character takes six bytes of JSON. */
export const MAX_SIGNAL_TEXT = 10_000;
/** The most bytes of JSON in the arguments of all calls of one signal. */
const MAX_ARGS_BYTES = 48 * 1024;
const MAX_ID = 200;

type TextSchema = v.SchemaWithPipe<
  readonly [v.StringSchema<undefined>, v.MaxLengthAction<string, number, undefined>]
>;
type NumberSchema = v.NumberSchema<undefined>;

/** An id: of a connection, a reply, an utterance or a call. */
export const id: TextSchema = v.pipe(v.string(), v.maxLength(MAX_ID));
/** Text of a transcript. A longer one is split into several signals. */
export const text: TextSchema = v.pipe(v.string(), v.maxLength(MAX_SIGNAL_TEXT));
/** Milliseconds, or a count. */
export const count: NumberSchema = v.number();

/** JSON of a bounded size, such as the arguments of a call. A value of bytes is not JSON. */
export function smallJson<T>(): v.GenericSchema<unknown, T> {
  return v.pipe(
    v.custom<T>(
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        !ArrayBuffer.isView(value) &&
        toJsonBytes(value) <= MAX_ARGS_BYTES,
      `must be JSON of at most ${MAX_ARGS_BYTES} bytes`,
    ),
    v.metadata({ maxBytes: MAX_ARGS_BYTES }),
  );
}

/** The schema of a live place: an object without unknown members, of at most `MAX_SIGNAL_BYTES`. */
export function signalSchema<T>(entries: v.ObjectEntries): v.GenericSchema<unknown, T> {
  const schema: v.GenericSchema = v.pipe(
    v.strictObject(entries),
    v.check(
      (value) => toJsonBytes(value) <= MAX_SIGNAL_BYTES,
      `must be at most ${MAX_SIGNAL_BYTES} bytes of JSON`,
    ),
    v.metadata({ maxBytes: MAX_SIGNAL_BYTES }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- valibot's inferred type of generic entries is not usable; each place names its token
  return schema as v.GenericSchema<unknown, T>;
}

/** The schema of a live place whose tokens may be null. */
export function optionalSignalSchema<T>(
  entries: v.ObjectEntries,
): v.GenericSchema<unknown, T | null> {
  return v.pipe(v.nullable(signalSchema<T>(entries)), v.metadata({ maxBytes: MAX_SIGNAL_BYTES }));
}

function toJsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
