import type { AnyPlace, ListPlace, MapEntries, MapPlace, Place } from './place.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- arcs are invariant in T: no other type holds all of them
type AnyToken = any;

/** `count` tokens at once, oldest first. */
export interface Many<T> {
  readonly arc: 'many';
  readonly place: Place<T>;
  readonly count: number;
}

/** Every token there is, at least `min` (1 unless said). */
export interface All<T> {
  readonly arc: 'all';
  readonly place: Place<T>;
  readonly min: number;
}

/** Tokens whose keys are equal on all `matching` inputs of the transition. */
export interface Matching<T, Taken> {
  readonly arc: 'matching';
  readonly of: Place<T> | Many<T> | All<T>;
  readonly getKey: (token: T) => string;
  readonly __value?: (taken: Taken) => Taken;
}

/**
 * Takes or reads exactly `count` tokens, the oldest first, as a list; with fewer the transition is not enabled.
 * `count` is a whole number from 1.
 */
export function many<T>(count: number, place: Place<T>): Many<T> {
  return { arc: 'many', place, count };
}

/**
 * Takes or reads every token there is, oldest first, as a list. With `min: 0` an empty place does not hold the
 * transition back; 1 unless said.
 */
export function all<T>(place: Place<T>, options: { readonly min?: 0 | 1 } = {}): All<T> {
  return { arc: 'all', place, min: options.min ?? 1 };
}

/** Takes several tokens for which `getKey` gives the same key as for the transition's other `matching` inputs. */
export function matching<T>(
  of: Many<T> | All<T>,
  getKey: (token: T) => string,
): Matching<T, readonly T[]>;
/** Takes one token whose key equals those of the transition's other `matching` inputs: at least two inputs pair so. */
export function matching<T>(of: Place<T>, getKey: (token: T) => string): Matching<T, T>;
export function matching<T>(
  of: Place<T> | Many<T> | All<T>,
  getKey: (token: T) => string,
): Matching<T, AnyToken> {
  return { arc: 'matching', of, getKey: getKey };
}

export type InputArc = AnyPlace | Many<AnyToken> | All<AnyToken> | Matching<AnyToken, AnyToken>;
/** The input arcs of a transition by the names under which `run` gets what they took. */
export type Inputs = Readonly<Record<string, InputArc>>;

/** What `run` receives for an input. */
export type InputValue<I> =
  I extends Matching<infer _T, infer Taken>
    ? Taken
    : I extends Many<infer T> | All<infer T>
      ? readonly T[]
      : I extends Place<infer T, infer K>
        ? K extends 'list'
          ? readonly T[]
          : T
        : never;
/** What `run` receives for all inputs, by their names. */
export type InputValues<I extends Inputs> = { readonly [K in keyof I]: InputValue<I[K]> };

/** Zero to `max` tokens. */
export interface UpTo<T> {
  readonly arc: 'upTo';
  readonly place: Place<T>;
  readonly max: number;
}
/** One token or none. */
export interface Optional<T> {
  readonly arc: 'optional';
  readonly place: Place<T>;
}
/** As many tokens as the named input took. */
export interface Each<T, Name extends string> {
  readonly arc: 'each';
  readonly input: Name;
  readonly place: Place<T>;
}
/** Items at the end of a list. */
export interface Append<T> {
  readonly arc: 'append';
  readonly place: ListPlace<T>;
}
/** The first `length` items of a list become one. */
export interface ReplacePrefix<T> {
  readonly arc: 'replacePrefix';
  readonly place: ListPlace<T>;
}
/** A list keeps its first `length` items. */
export interface Truncate<T> {
  readonly arc: 'truncate';
  readonly place: ListPlace<T>;
}
/** Writes to a map. */
export interface Put {
  readonly arc: 'put';
  readonly place: MapPlace;
}

/** Writes to a map place. `increment` and `append` merge with writes made meanwhile; `set` and `delete` do not. */
export interface MapWrites {
  readonly set?: MapEntries;
  readonly delete?: readonly string[];
  readonly increment?: Readonly<Record<string, number>>;
  readonly append?: Readonly<Record<string, readonly unknown[]>>;
  /** Also removes every key not in `set` (keys shared with other sessions stay). */
  readonly replace?: true;
}

/**
 * Gives a list of at most `max` tokens; left out, it gives none. With more, the firing fails. `max` is a whole number
 * from 1.
 */
export function upTo<T>(max: number, place: Place<T>): UpTo<T> {
  return { arc: 'upTo', place, max };
}
/** Gives one token, or none when it is left out or undefined. */
export function optional<T>(place: Place<T>): Optional<T> {
  return { arc: 'optional', place };
}
/** Gives a list with one token for each that the named input took; with another number, the firing fails. */
export function each<const Name extends string, T>(input: Name, place: Place<T>): Each<T, Name> {
  return { arc: 'each', input, place };
}
/** Gives a list of items to put at the end of a list place; left out, it puts none. */
export function append<T>(place: ListPlace<T>): Append<T> {
  return { arc: 'append', place };
}
/**
 * Gives `{ length, item }`: the first `length` items of a list place become that one item, as compaction does. Fails
 * for a length the list has not, or when another cut the list since this firing read it.
 */
export function replacePrefix<T>(place: ListPlace<T>): ReplacePrefix<T> {
  return { arc: 'replacePrefix', place };
}
/**
 * Gives `{ length }`: a list place keeps its first `length` items, as rewinding does. Fails for a length the list has
 * not, or when another cut the list since this firing read it.
 */
export function truncate<T>(place: ListPlace<T>): Truncate<T> {
  return { arc: 'truncate', place };
}
/** Gives `MapWrites` for a map place; left out, nothing is written. */
export function put(place: MapPlace): Put {
  return { arc: 'put', place };
}

export type OutputArc =
  | AnyPlace
  | UpTo<AnyToken>
  | Optional<AnyToken>
  | Each<AnyToken, string>
  | Append<AnyToken>
  | ReplacePrefix<AnyToken>
  | Truncate<AnyToken>
  | Put;
export type Outputs = Readonly<Record<string, OutputArc>>;

/** What `run` returns for an output. */
export type OutputValue<O> =
  O extends UpTo<infer T>
    ? readonly T[]
    : O extends Each<infer T, string>
      ? readonly T[]
      : O extends Append<infer T>
        ? readonly T[]
        : O extends ReplacePrefix<infer T>
          ? { readonly length: number; readonly item: T }
          : O extends Truncate<infer _T>
            ? { readonly length: number }
            : O extends Put
              ? MapWrites
              : O extends Place<infer T>
                ? T
                : never;

/** Every one of these outputs. */
export interface AllOf<O extends Outputs> {
  readonly give: 'allOf';
  readonly outputs: O;
}
export type Alternatives = Readonly<Record<string, OutputArc | AllOf<Outputs>>>;
/** Exactly one of these alternatives; an alternative may be an `allOf`. */
export interface OneOf<A extends Alternatives> {
  readonly give: 'oneOf';
  readonly alternatives: A;
}

/** Has a transition give all of these outputs in each firing. `allOf({})` gives nothing. */
export function allOf<const O extends Outputs>(outputs: O): AllOf<O> {
  return { give: 'allOf', outputs };
}
/**
 * Has a transition give exactly one of these alternatives in each firing: `run` returns an object with that one member, else the
 * firing fails.
 */
export function oneOf<const A extends Alternatives>(alternatives: A): OneOf<A> {
  return { give: 'oneOf', alternatives };
}

export type OutputSpec = OneOf<Alternatives> | AllOf<Outputs>;

type OptionalKeys<O extends Outputs> = {
  [K in keyof O]: O[K] extends Optional<AnyToken> | UpTo<AnyToken> | Append<AnyToken> | Put
    ? K
    : never;
}[keyof O];
/** Outputs that may be empty may be left out. */
type OutputValues<O extends Outputs> = {
  readonly [K in Exclude<keyof O, OptionalKeys<O>>]: OutputValue<O[K]>;
} & {
  readonly [K in OptionalKeys<O>]?: O[K] extends Optional<infer T>
    ? T | undefined
    : OutputValue<O[K]> | undefined;
};
type AlternativeValue<A> = A extends AllOf<infer O> ? OutputValues<O> : OutputValue<A>;
type ExactlyOne<A extends Alternatives> = {
  [K in keyof A]: { readonly [P in K]: AlternativeValue<A[K]> } & {
    readonly [P in Exclude<keyof A, K>]?: never;
  };
}[keyof A];
export type ReturnValue<G> =
  G extends OneOf<infer A> ? ExactlyOne<A> : G extends AllOf<infer O> ? OutputValues<O> : never;

/** The place an arc touches. */
export function arcPlace(arc: InputArc | OutputArc): AnyPlace {
  if ('kind' in arc) return arc;
  return arc.arc === 'matching' ? arcPlace(arc.of) : arc.place;
}
