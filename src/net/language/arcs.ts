import type { FiringKeySource, FiringToken } from './firing-token.ts';
import type { AnyPlace, ListPlace, MapEntries, MapPlace, Place } from './place.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- arcs are invariant in T: no other type holds all of them
type AnyToken = any;

/** An input of `count` tokens at once, oldest first. */
export interface Many<T> {
  readonly arc: 'many';
  readonly place: Place<T>;
  readonly count: number;
}

/** An input of every token in the place. The transition needs at least `min` tokens. */
export interface All<T> {
  readonly arc: 'all';
  readonly place: Place<T>;
  readonly min: number;
}

/** What a key function reads of a token: the token, or a firing in flight without its attempt, which changes. */
export type KeySource<T> = T extends FiringToken<infer Inputs> ? FiringKeySource<Inputs> : T;

/** An input of tokens whose key equals the key of all other `matching` inputs of the transition. */
export interface Matching<T, Taken> {
  readonly arc: 'matching';
  readonly of: Place<T> | Many<T> | All<T>;
  readonly getKey: (token: KeySource<T>) => string;
  readonly __value?: (taken: Taken) => Taken;
}

/**
 * Takes or reads exactly `count` tokens as a list, oldest first. With fewer tokens the transition is not enabled.
 * `count` is an integer of at least 1.
 */
export function many<T>(count: number, place: Place<T>): Many<T> {
  return { arc: 'many', place, count };
}

/**
 * Takes or reads all tokens of a place as a list, oldest first. With `min: 0` the transition is enabled even if the
 * place is empty. Default of `min`: 1.
 */
export function all<T>(place: Place<T>, options: { readonly min?: 0 | 1 } = {}): All<T> {
  return { arc: 'all', place, min: options.min ?? 1 };
}

/** Takes several tokens whose key equals the key of the transition's other `matching` inputs. */
export function matching<T>(
  of: Many<T> | All<T>,
  getKey: (token: KeySource<T>) => string,
): Matching<T, readonly T[]>;
/**
 * Takes one token whose key equals the key of the transition's other `matching` inputs. A transition that matches one
 * single token needs at least two `matching` inputs.
 */
export function matching<T>(of: Place<T>, getKey: (token: KeySource<T>) => string): Matching<T, T>;
export function matching<T>(
  of: Place<T> | Many<T> | All<T>,
  getKey: (token: KeySource<T>) => string,
): Matching<T, AnyToken> {
  return { arc: 'matching', of, getKey };
}

/** An input arc. A place alone takes or reads one token, or the whole list or map. */
export type InputArc = AnyPlace | Many<AnyToken> | All<AnyToken> | Matching<AnyToken, AnyToken>;
/** The input arcs of a transition, by the names under which `run` receives their values. */
export type Inputs = Readonly<Record<string, InputArc>>;

/** The value that `run` receives for an input. */
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
/** The values that `run` receives for all inputs, by input name. */
export type InputValues<I extends Inputs> = { readonly [K in keyof I]: InputValue<I[K]> };

/** An output of zero to `max` tokens. */
export interface UpTo<T> {
  readonly arc: 'upTo';
  readonly place: Place<T>;
  readonly max: number;
}
/** An output of one token or none. */
export interface Optional<T> {
  readonly arc: 'optional';
  readonly place: Place<T>;
}
/** An output of as many tokens as the named input took. */
export interface Each<T, Name extends string> {
  readonly arc: 'each';
  readonly input: Name;
  readonly place: Place<T>;
}
/** An output that appends items to a list. */
export interface Append<T> {
  readonly arc: 'append';
  readonly place: ListPlace<T>;
}
/** An output that replaces the first `length` items of a list with one item. */
export interface ReplacePrefix<T> {
  readonly arc: 'replacePrefix';
  readonly place: ListPlace<T>;
}
/** An output that keeps only the first `length` items of a list. */
export interface Truncate<T> {
  readonly arc: 'truncate';
  readonly place: ListPlace<T>;
}
/** An output that writes to a map. */
export interface Put {
  readonly arc: 'put';
  readonly place: MapPlace;
}

/** Writes to a map place. `increment` and `append` merge with concurrent writes; `set` and `delete` overwrite them. */
export interface MapWrites {
  readonly set?: MapEntries;
  readonly delete?: readonly string[];
  readonly increment?: Readonly<Record<string, number>>;
  readonly append?: Readonly<Record<string, readonly unknown[]>>;
  /** Also removes every key that is not in `set`, except keys shared with other sessions. */
  readonly replace?: true;
}

/**
 * Outputs a list of at most `max` tokens. If `run` omits it, it outputs none. With more than `max` tokens the firing
 * fails. `max` is an integer of at least 1.
 */
export function upTo<T>(max: number, place: Place<T>): UpTo<T> {
  return { arc: 'upTo', place, max };
}
/** Outputs one token, or none if `run` omits it or returns undefined for it. */
export function optional<T>(place: Place<T>): Optional<T> {
  return { arc: 'optional', place };
}
/** Outputs a list with one token for each token that the named input took. With any other number the firing fails. */
export function each<const Name extends string, T>(input: Name, place: Place<T>): Each<T, Name> {
  return { arc: 'each', input, place };
}
/** Outputs a list of items to append to a list place. If `run` omits it, nothing is appended. */
export function append<T>(place: ListPlace<T>): Append<T> {
  return { arc: 'append', place };
}
/**
 * Outputs `{ length, item }`: replaces the first `length` items of a list place with `item`, as compaction does. The
 * firing fails if `length` exceeds the length of the list, or if another firing cut the list after this firing read it.
 */
export function replacePrefix<T>(place: ListPlace<T>): ReplacePrefix<T> {
  return { arc: 'replacePrefix', place };
}
/**
 * Outputs `{ length }`: keeps only the first `length` items of a list place, as a rewind does. The firing fails if
 * `length` exceeds the length of the list, or if another firing cut the list after this firing read it.
 */
export function truncate<T>(place: ListPlace<T>): Truncate<T> {
  return { arc: 'truncate', place };
}
/** Outputs `MapWrites` for a map place. If `run` omits it, nothing is written. */
export function put(place: MapPlace): Put {
  return { arc: 'put', place };
}

/** An output arc. A place alone outputs one token. */
export type OutputArc =
  | AnyPlace
  | UpTo<AnyToken>
  | Optional<AnyToken>
  | Each<AnyToken, string>
  | Append<AnyToken>
  | ReplacePrefix<AnyToken>
  | Truncate<AnyToken>
  | Put;
/** Output arcs, by the names under which `run` returns their values. */
export type Outputs = Readonly<Record<string, OutputArc>>;

/** The value that `run` returns for an output. */
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

/** All of these outputs in each firing. */
export interface AllOf<O extends Outputs> {
  readonly give: 'allOf';
  readonly outputs: O;
}
/** The alternatives of a `oneOf`, by name. */
export type Alternatives = Readonly<Record<string, OutputArc | AllOf<Outputs>>>;
/** Exactly one of these alternatives in each firing. An alternative may be an `allOf`. */
export interface OneOf<A extends Alternatives> {
  readonly give: 'oneOf';
  readonly alternatives: A;
}

/** Declares that each firing produces all of these outputs. `allOf({})` declares no output. */
export function allOf<const O extends Outputs>(outputs: O): AllOf<O> {
  return { give: 'allOf', outputs };
}
/**
 * Declares that each firing produces exactly one of these alternatives. `run` returns an object with that one member;
 * otherwise the firing fails.
 */
export function oneOf<const A extends Alternatives>(alternatives: A): OneOf<A> {
  return { give: 'oneOf', alternatives };
}

/** The declared outputs of a transition. */
export type OutputSpec = OneOf<Alternatives> | AllOf<Outputs>;

type OptionalKeys<O extends Outputs> = {
  [K in keyof O]: O[K] extends Optional<AnyToken> | UpTo<AnyToken> | Append<AnyToken> | Put
    ? K
    : never;
}[keyof O];
/** The values for all outputs. An output that may be empty may be omitted. */
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
/** The value that `run` returns for the declared outputs `G`. */
export type ReturnValue<G> =
  G extends OneOf<infer A> ? ExactlyOne<A> : G extends AllOf<infer O> ? OutputValues<O> : never;

/** True for an arc that is written as a place alone. */
function isPlace(arc: InputArc | OutputArc): arc is AnyPlace {
  return 'kind' in arc;
}

/** An input arc in one shape, whatever way it is written. */
export interface TaggedInput {
  readonly key: string;
  /** `one` is a place alone: one token, or the whole list or map. */
  readonly arc: 'one' | 'many' | 'all';
  readonly place: AnyPlace;
  /** The minimum number of tokens; for `many` the exact number. */
  readonly count: number;
  /** Only for `matching`. */
  readonly getKey: ((token: AnyToken) => string) | undefined;
}

/** Lists input arcs in one shape. */
export function listInputs(inputs: Inputs): readonly TaggedInput[] {
  return Object.entries(inputs).map(([key, input]) => toTaggedInput(key, input));
}

function toTaggedInput(key: string, input: InputArc): TaggedInput {
  if (isPlace(input)) return { key, arc: 'one', place: input, count: 1, getKey: undefined };
  if (input.arc === 'matching') return { ...toTaggedInput(key, input.of), getKey: input.getKey };
  const { arc, place } = input;
  return { key, arc, place, count: arc === 'many' ? input.count : input.min, getKey: undefined };
}

/** An output of one token. */
export interface One {
  readonly arc: 'one';
  readonly place: AnyPlace;
}

/** An output arc with a tag, also if it is written as a place alone. */
export type TaggedOutput = One | Exclude<OutputArc, AnyPlace>;

/** One of the alternatives of which each firing produces one. An `allOf` is one alternative, named ''. */
export interface TaggedAlternative {
  readonly name: string;
  /** True for an `allOf`: `run` returns an object with its outputs. */
  readonly grouped: boolean;
  readonly outputs: readonly { readonly key: string; readonly output: TaggedOutput }[];
}

/** Lists the declared alternatives of a transition, with their outputs in one shape. */
export function listAlternatives(give: OutputSpec): readonly TaggedAlternative[] {
  const tagged = (outputs: Outputs): TaggedAlternative['outputs'] =>
    Object.entries(outputs).map(([key, arc]) => ({
      key,
      output: isPlace(arc) ? { arc: 'one', place: arc } : arc,
    }));
  if (give.give === 'allOf') return [{ name: '', grouped: true, outputs: tagged(give.outputs) }];
  return Object.entries(give.alternatives).map(([name, alternative]) =>
    'give' in alternative
      ? { name, grouped: true, outputs: tagged(alternative.outputs) }
      : { name, grouped: false, outputs: tagged({ [name]: alternative }) },
  );
}

/** Lists all declared outputs, over all alternatives. */
export function listOutputs(give: OutputSpec): readonly TaggedOutput[] {
  return listAlternatives(give).flatMap(({ outputs }) => outputs.map(({ output }) => output));
}

/** Returns a copy of an input arc with another place. */
export function mapInputPlace(input: InputArc, to: (place: AnyPlace) => AnyPlace): InputArc {
  if (isPlace(input)) return to(input);
  if (input.arc !== 'matching') return { ...input, place: to(input.place) };
  const { of } = input;
  return { ...input, of: isPlace(of) ? to(of) : { ...of, place: to(of.place) } };
}

/** Returns a copy of an output arc with another place of the same kind. */
export function mapOutputPlace(output: OutputArc, to: (place: AnyPlace) => AnyPlace): OutputArc {
  if (isPlace(output)) return to(output);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- replacing a place keeps its kind: a join of different kinds is rejected
  return { ...output, place: to(output.place) } as OutputArc;
}

/** Returns the place of an arc. */
export function arcPlace(arc: InputArc | OutputArc): AnyPlace {
  if (isPlace(arc)) return arc;
  return arc.arc === 'matching' ? arcPlace(arc.of) : arc.place;
}
