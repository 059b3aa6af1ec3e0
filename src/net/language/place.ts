import type { JsonObject } from '../../core/index.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/**
 * How a place stores values.
 * - `tokens`: a queue of tokens, oldest first.
 * - `list`: one append-only list, such as `conversation`. The journal records each change, not the whole list.
 * - `map`: one map from keys to values. The journal records writes key by key.
 * - `outlet`: a way out of the net. A value that enters leaves the net with the settled step, for the log.
 * - `running`: the firings of an effect that are in flight.
 */
export type PlaceKind = 'tokens' | 'list' | 'map' | 'outlet' | 'running';

/**
 * A place for tokens of one type. The schema defines the TypeScript type, validates at run time, and produces the
 * value that the journal stores.
 */
export interface Place<T = unknown, K extends PlaceKind = PlaceKind> {
  readonly kind: K;
  /** `area.thing`. The same string appears in code, diagrams, the journal, the log, spans and proofs. */
  readonly name: string;
  readonly schema: StandardSchemaV1 | undefined;
  /** Two places of one name are compatible if they share the schema object or this version. */
  readonly version: number | undefined;
  /** True if every token here must be answered. A reset may not drop such a token; a transition must take it. */
  readonly owed: boolean;
  /** True if tokens may be injected from outside the net. */
  readonly environment: boolean;
  /**
   * True if an input to this place keeps its order among the inputs to other places. The driver fires what is enabled
   * before it injects the input, and again after it; without this, inputs that arrive together are injected first.
   */
  readonly barrier: boolean;
  /**
   * The names that the place had in earlier versions of its net, oldest first. Stored tokens of these names are in this
   * place.
   */
  readonly formerNames: readonly string[];
  /**
   * Returns the label of a token: a finite fact about it, such as the name of a tool. A proof can follow labels, and a
   * transition can declare the labels of its outputs.
   */
  readonly label?: ((token: T) => string) | undefined;
  readonly __token?: (token: T) => T;
}

/** A place of any token type. */
export type AnyPlace = Place<any>; // oxlint-disable-line typescript/no-explicit-any -- Place is invariant in T: no other type holds all of them
/** A queue of tokens. Inputs take the oldest token first. */
export type TokenPlace<T = unknown> = Place<T, 'tokens'>;
/** A place that always holds one list of `T`. It is read whole, and changed only at its beginning or its end. */
export type ListPlace<T = unknown> = Place<T, 'list'>;
/**
 * A place that always holds one map of JSON values. Keys with the prefix `user:` or `app:` are copies of state shared
 * with other sessions.
 */
export type MapPlace = Place<MapEntries, 'map'>;
/** A way out of the net for values of `T`. No transition can take or read them. */
export type Outlet<T = unknown> = Place<T, 'outlet'>;
/** The entries of a map place. */
export type MapEntries = JsonObject;

/** Options of a place; see the members of `Place`. */
export interface PlaceOptions {
  /** Default: none; places of this name must then share the schema object. */
  readonly version?: number;
  /** Default: false. */
  readonly owed?: boolean;
  /** Default: false. */
  readonly environment?: boolean;
  /** Default: false. */
  readonly barrier?: boolean;
  /** Default: none. */
  readonly formerNames?: readonly string[];
}

/** Options of a place of tokens with a value. */
export interface TokenPlaceOptions<T> extends PlaceOptions {
  /** Returns the label of a token; see `Place`. Default: none. */
  readonly label?: (token: T) => string;
}

function define<T, K extends PlaceKind>(
  kind: K,
  name: string,
  schema: StandardSchemaV1 | undefined,
  options: TokenPlaceOptions<T> = {},
): Place<T, K> {
  return Object.freeze({
    kind,
    name,
    schema,
    version: options.version,
    owed: options.owed ?? false,
    environment: options.environment ?? false,
    barrier: options.barrier ?? false,
    formerNames: options.formerNames ?? [],
    ...(options.label !== undefined && { label: options.label }),
  });
}

/** Defines a place of unit tokens (value `null`), such as permits, budgets and flags. */
export function place(name: string, options?: PlaceOptions): TokenPlace<null>;
/** Defines a place of tokens whose type is the output type of `schema`. */
export function place<S extends StandardSchemaV1>(
  name: string,
  schema: S,
  options?: TokenPlaceOptions<StandardSchemaV1.InferOutput<S>>,
): TokenPlace<StandardSchemaV1.InferOutput<S>>;
export function place(
  name: string,
  schemaOrOptions?: StandardSchemaV1 | PlaceOptions,
  options?: TokenPlaceOptions<any>, // oxlint-disable-line typescript/no-explicit-any -- the overloads have the type
): AnyPlace {
  if (schemaOrOptions !== undefined && '~standard' in schemaOrOptions) {
    return define('tokens', name, schemaOrOptions, options);
  }
  return define('tokens', name, undefined, schemaOrOptions);
}

/**
 * Defines a place that always holds exactly one list, which may be empty. Read it whole; change it with `append`,
 * `replacePrefix` or `truncate`.
 */
export function listPlace<S extends StandardSchemaV1>(
  name: string,
  schema: S,
  options?: PlaceOptions,
): ListPlace<StandardSchemaV1.InferOutput<S>> {
  return define('list', name, schema, options);
}

/** Defines a place that always holds exactly one map, which may be empty. Read it whole; change it with `put`. */
export function mapPlace(name: string, options?: PlaceOptions): MapPlace {
  return define('map', name, undefined, options);
}

/** True if two places of one name have the same kind, and the same schema object or declared version. */
export function areCompatible(a: AnyPlace, b: AnyPlace): boolean {
  if (a.kind !== b.kind) return false;
  return a === b || a.schema === b.schema || (a.version !== undefined && a.version === b.version);
}

/** Defines a way out of the net. No transition can take or read its values. */
export function outlet<S extends StandardSchemaV1>(
  name: string,
  schema: S,
  options?: PlaceOptions,
): Outlet<StandardSchemaV1.InferOutput<S>> {
  return define('outlet', name, schema, options);
}
