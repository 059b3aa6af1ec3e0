import type { JsonObject } from '../../core/json/json.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/**
 * How a place keeps what enters it.
 * - `tokens`: a queue, oldest first.
 * - `list`: one append-only list (`conversation`); its appends are journaled as changes, so history costs nothing again.
 * - `map`: one map of keys to values; its writes are journaled key by key.
 * - `outlet`: the way out: what enters leaves the net with the step, for the log.
 * - `running`: the firings of an effect in flight.
 */
export type PlaceKind = 'tokens' | 'list' | 'map' | 'outlet' | 'running';

/** Where tokens of one type rest. The schema is the run-time check, the journal codec and the TypeScript type. */
export interface Place<T = unknown, K extends PlaceKind = PlaceKind> {
  readonly kind: K;
  /** `area.thing`: the same string in code, diagram, journal, log, span and proof. */
  readonly name: string;
  readonly schema: StandardSchemaV1 | undefined;
  /** Places of one name agree when they share the schema object or this version. */
  readonly version: number | undefined;
  /** A token here is owed an answer: no reset may drop it, it can only be taken. */
  readonly owed: boolean;
  /** A token here may come from outside. */
  readonly environment: boolean;
  readonly __token?: (token: T) => T;
}

/** A place of some token type. */
export type AnyPlace = Place<any>; // oxlint-disable-line typescript/no-explicit-any -- Place is invariant in T: no other type holds all of them
/** A queue of tokens: inputs take the oldest first. */
export type TokenPlace<T = unknown> = Place<T, 'tokens'>;
/** A place that always holds one list of `T`, read whole and changed by its end or its beginning. */
export type ListPlace<T = unknown> = Place<T, 'list'>;
/**
 * A place that always holds one map of JSON values; keys with `user:` or `app:` are copies of state shared with other
 * sessions.
 */
export type MapPlace = Place<MapEntries, 'map'>;
/** A way out of the net for values of `T`: nothing inside can take or read them. */
export type Outlet<T = unknown> = Place<T, 'outlet'>;
export type MapEntries = JsonObject;

export interface PlaceOptions {
  readonly version?: number;
  readonly owed?: boolean;
  readonly environment?: boolean;
}

function define<T, K extends PlaceKind>(
  kind: K,
  name: string,
  schema: StandardSchemaV1 | undefined,
  options: PlaceOptions = {},
): Place<T, K> {
  return Object.freeze({
    kind,
    name,
    schema,
    version: options.version,
    owed: options.owed ?? false,
    environment: options.environment ?? false,
  });
}

/** A place of unit tokens: permits, budgets, flags. */
export function place(name: string, options?: PlaceOptions): TokenPlace<null>;
/** A place of typed tokens. */
export function place<S extends StandardSchemaV1>(
  name: string,
  schema: S,
  options?: PlaceOptions,
): TokenPlace<StandardSchemaV1.InferOutput<S>>;
export function place(
  name: string,
  schemaOrOptions?: StandardSchemaV1 | PlaceOptions,
  options?: PlaceOptions,
): AnyPlace {
  if (schemaOrOptions !== undefined && '~standard' in schemaOrOptions) {
    return define('tokens', name, schemaOrOptions, options);
  }
  return define('tokens', name, undefined, schemaOrOptions);
}

/** A place that always holds exactly one list, maybe empty. Read it whole; change it by `append`, `replacePrefix`, `truncate`. */
export function listPlace<S extends StandardSchemaV1>(
  name: string,
  schema: S,
  options?: PlaceOptions,
): ListPlace<StandardSchemaV1.InferOutput<S>> {
  return define('list', name, schema, options);
}

/** A place that always holds exactly one map, maybe empty. Read it whole; change it by `put`. */
export function mapPlace(name: string, options?: PlaceOptions): MapPlace {
  return define('map', name, undefined, options);
}

/** True when two places of one name hold the same: one schema object, or one declared version. */
export function areCompatible(a: AnyPlace, b: AnyPlace): boolean {
  if (a.kind !== b.kind) return false;
  return a === b || a.schema === b.schema || (a.version !== undefined && a.version === b.version);
}

/** A way out of the net. Nothing can take from it. */
export function outlet<S extends StandardSchemaV1>(
  name: string,
  schema: S,
  options?: PlaceOptions,
): Outlet<StandardSchemaV1.InferOutput<S>> {
  return define('outlet', name, schema, options);
}
