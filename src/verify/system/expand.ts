import { faultPlace, unhandledFaultPlace, type CompiledNet } from '../../net/index.ts';
import type { CompiledInput, CompiledTransition } from '../../net/internal.ts';
import { DEFAULT_ATTEMPTS, DEFAULT_UP_TO, UNLIMITED } from '../properties/bounds.ts';
import type { Bounds } from '../properties/bounds.ts';
import { omitUndefined, readOwn } from '../../core/internal.ts';
import { TrackedLabels } from './labels.ts';
import type { OutputColors } from './labels.ts';
import { keySlots } from './key-slots.ts';
import type { KeySlots } from './key-slots.ts';
import { InvalidPropertyError, UnknownNameError } from '../properties/verify-errors.ts';

/** A place of the expanded net: a tokens place or `running(t)`. List, map and outlet places are not part of a state. */
export interface ExpandedPlace {
  readonly index: number;
  readonly name: string;
  /** For a running place, the index of its effect; -1 for a tokens place. */
  readonly effect: number;
  /** The domain of each key slot of its tokens. */
  readonly domains: readonly number[];
  /** True if its tokens have a color: the search tracks labels, and the place has them. */
  readonly isColored: boolean;
}

/** An input arc of the expanded net. */
export interface ExpandedInput {
  readonly place: number;
  readonly mode: 'one' | 'many' | 'all';
  /** The minimum number of tokens; for `one` and `many` the exact number. */
  readonly count: number;
  /** The key slot that the input compares; -1 for an input without `matching`. */
  readonly slot: number;
}

/** An output arc of the expanded net: a range of numbers of tokens, or as many as an input took. */
export interface ExpandedOutput {
  /** The name of the output in its alternative. */
  readonly key: string;
  /** Place index, or -1 for an outlet. */
  readonly place: number;
  readonly name: string;
  readonly min: number;
  readonly isUpTo: boolean;
  /** The maximum number of tokens within the bounds; 0 for a place that stays empty. */
  readonly max: number;
  /** The declared maximum number of tokens. */
  readonly declared: number;
  /** For `each`, the index of the input whose tokens are counted; otherwise -1. */
  readonly each: number;
  /** The colors of its tokens. Undefined for tokens without a color. */
  readonly colors?: OutputColors;
}

/** One alternative of a transition's outputs. */
export interface ExpandedAlternative {
  /** '' for the one alternative of an `allOf`. */
  readonly name: string;
  readonly outputs: readonly ExpandedOutput[];
}

/** A transition of the expanded net. Places are indexes. */
export interface ExpandedTransition {
  readonly index: number;
  readonly name: string;
  readonly kind: 'pure' | 'effect';
  readonly priority: number;
  /** True in a slice of a net, for a transition that lost a condition: it may fire, but nothing waits for it. */
  readonly isOptional?: boolean;
  /** `finite`: the delay is finite. `maybe`: a token may have no clock. `never`: the delay is infinite. */
  readonly timed: 'no' | 'finite' | 'maybe' | 'never';
  /** True if it can fire in the settling in which its tokens arrive: it has no clock, or its delay may be 0, or round to it. */
  readonly isImmediate: boolean;
  readonly concurrency: number;
  readonly takes: readonly ExpandedInput[];
  readonly reads: readonly { readonly place: number; readonly count: number }[];
  readonly unless: readonly number[];
  readonly resets: readonly number[];
  readonly keyed: boolean;
  readonly alternatives: readonly ExpandedAlternative[];
  /** The place of its firings in flight; -1 for a pure transition. */
  readonly running: number;
  /** The maximum number of attempts within the bounds. */
  readonly attempts: number;
  /** The inputs whose number of tokens a firing must remember, because an `each` output or a fault depends on it. */
  readonly remembered: readonly number[];
  /** The input whose color a firing keeps; -1 for none. */
  readonly keptColor: number;
}

/**
 * The compiled net in the form that the prover uses. An effect is `started`, and its firings in flight are tokens of
 * `running(t)`. It is `ended` with one of its declared alternatives, whether it succeeded, failed, timed out, was
 * cancelled or is unknown; or it is `retrying` and then `restarted`. Every transition may instead end in a fault that
 * holds its inputs. Values and times are omitted. Correlation keys are kept as numbers.
 */
export interface ExpandedNet {
  readonly net: CompiledNet;
  readonly bounds: Required<Pick<Bounds, 'attempts' | 'shutdowns' | 'together'>>;
  readonly places: readonly ExpandedPlace[];
  readonly placeIndex: ReadonlyMap<string, number>;
  readonly transitions: readonly ExpandedTransition[];
  /** Transitions without a clock, by priority, highest first. */
  readonly byPriority: readonly (readonly ExpandedTransition[])[];
  readonly timed: readonly ExpandedTransition[];
  readonly timedByPriority: readonly (readonly ExpandedTransition[])[];
  /** In a slice of a net: effects without a place for their firings. Their results arrive at any time. */
  readonly arriving?: readonly ExpandedTransition[];
  readonly keys: KeySlots;
  /** The labels that the search tracks. */
  readonly tracked: TrackedLabels;
  /** The index of the place of faults; -1 if a slice of a net leaves it out. */
  readonly fault: number;
  readonly unhandledFault: number;
  /** The places that tokens may enter from outside, and the number of these tokens. */
  readonly environment: readonly { readonly place: number; readonly tokens: number }[];
  /** The maximum number of faults; UNLIMITED for any number. */
  readonly faults: number;
  /** The names of the places that stay empty. */
  readonly empty: readonly string[];
  /** The bounds as sentences, for the report. */
  readonly statement: readonly string[];
}

/**
 * Returns the expanded net of a compiled net within these bounds.
 * @throws UnknownNameError if a bound names a place that the net does not have.
 * @throws InvalidPropertyError if a bound is not an integer in its range.
 */
export function expand(
  net: CompiledNet,
  bounds: Bounds = {},
  labels: readonly string[] = [],
): ExpandedNet {
  const tracked = new TrackedLabels(net, labels);
  const effects = net.transitions.filter((t) => t.spec.kind === 'effect');
  const tokenPlaces = [...net.places.values()]
    .filter((place) => place.kind === 'tokens')
    .map((place) => place.name);
  const names = [
    ...tokenPlaces,
    ...[unhandledFaultPlace.name].filter((name) => !tokenPlaces.includes(name)),
    ...effects.map((t) => t.running),
  ];
  const placeIndex = new Map(names.map((name, index) => [name, index]));
  const keys = keySlots(net);
  const effectIndexes = new Map(effects.map((t) => [t.running, t.index]));
  const isColored = (name: string): boolean => {
    const effect = net.transitions[effectIndexes.get(name) ?? -1];
    if (effect !== undefined) return tracked.findKeptInput(effect) >= 0;
    return tracked.isColored(name);
  };
  const places = names.map((name, index): ExpandedPlace => ({
    index,
    name,
    effect: effectIndexes.get(name) ?? -1,
    domains: keys.getDomains(name),
    isColored: isColored(name),
  }));
  const empty = new Set((bounds.empty ?? []).map((name) => findPlace(net, placeIndex, name)));
  const attempts = natural('bounds.attempts', bounds.attempts ?? DEFAULT_ATTEMPTS, 1);
  const cap = upToLimit(net, bounds);
  const together =
    bounds.together === undefined
      ? Number.POSITIVE_INFINITY
      : natural('bounds.together', bounds.together, 0);
  const transitions = net.transitions.map((t) =>
    expandTransition(t, placeIndex, keys, { cap, attempts, empty, tracked }),
  );
  const untimed = transitions.filter((t) => t.timed === 'no');
  const timed = transitions.filter((t) => t.timed !== 'no');
  const environment = listEnvironment(net, bounds, placeIndex);
  const faults =
    bounds.faults === undefined ? UNLIMITED : natural('bounds.faults', bounds.faults, 0);
  const shutdowns = (bounds.shutdowns ?? true) && effects.length > 0;
  return {
    net,
    bounds: { attempts, shutdowns, together },
    places,
    placeIndex,
    transitions,
    byPriority: byPriority(untimed),
    timed,
    timedByPriority: byPriority(timed),
    keys,
    tracked,
    fault: indexIn(placeIndex, faultPlace.name),
    unhandledFault: indexIn(placeIndex, unhandledFaultPlace.name),
    environment,
    faults,
    empty: bounds.empty ?? [],
    statement: describeBounds(transitions, places, environment, empty, bounds, attempts, shutdowns),
  };
}

/** A shorter delay may be lost when it is added to a time: a number of milliseconds since 1970 has few decimal places. */
const LEAST_DELAY_MS = 0.001;

function byPriority(
  transitions: readonly ExpandedTransition[],
): readonly (readonly ExpandedTransition[])[] {
  const priorities = [...new Set(transitions.map((t) => t.priority))].toSorted((a, b) => b - a);
  return priorities.map((priority) => transitions.filter((t) => t.priority === priority));
}

/** The bounds that apply to the outcomes of transitions. */
interface Limits {
  readonly cap: (place: string) => number;
  readonly attempts: number;
  /** Indexes of the places that stay empty. */
  readonly empty: ReadonlySet<number>;
  readonly tracked: TrackedLabels;
}

function expandTransition(
  t: CompiledTransition,
  places: ReadonlyMap<string, number>,
  keys: KeySlots,
  { cap, attempts, empty, tracked }: Limits,
): ExpandedTransition {
  const { spec } = t;
  const takes = t.takes.map((input): ExpandedInput => ({
    place: indexIn(places, input.place),
    mode: input.mode,
    count: input.count,
    slot: keys.getSlot(input),
  }));
  const declared = [...t.alternatives].map(([name, { outputs }]): ExpandedAlternative => ({
    name,
    outputs: outputs.flatMap((compiled): readonly ExpandedOutput[] => {
      const { key, output, place } = compiled;
      const { arc } = output;
      if (arc === 'append' || arc === 'replacePrefix' || arc === 'truncate' || arc === 'put')
        return [];
      const max = output.arc === 'upTo' ? output.max : 1;
      const isEmpty = empty.has(places.get(place.name) ?? -1);
      const each =
        output.arc === 'each' ? t.takes.findIndex((input) => input.key === output.input) : -1;
      return [
        {
          key,
          place: places.get(place.name) ?? -1,
          name: place.name,
          min: arc === 'one' ? 1 : 0,
          isUpTo: arc === 'upTo',
          // An output that may be empty is empty; one that may not be removes its alternative.
          max: isEmpty ? 0 : arc === 'upTo' ? Math.min(max, cap(place.name)) : max,
          declared: max,
          each,
          ...omitUndefined({ colors: tracked.toOutputColors(t, compiled) }),
        },
      ];
    }),
  }));
  const alternatives = declared.filter(({ outputs }) =>
    outputs.every(({ min, max }) => min <= max),
  );
  const isEffect = spec.kind === 'effect';
  const remembered = !isEffect
    ? []
    : t.takes.flatMap((input, index) =>
        input.mode === 'all' &&
        (input.place === faultPlace.name ||
          alternatives.some(({ outputs }) => outputs.some(({ each }) => each === index)))
          ? [index]
          : [],
      );
  const { after } = spec;
  return {
    index: t.index,
    name: t.name,
    kind: spec.kind,
    priority: spec.priority,
    timed:
      after === undefined
        ? 'no'
        : t.takes[0]?.kind === 'running'
          ? // Only tokens have clocks; firings in flight have none.
            'never'
          : typeof after === 'function'
            ? 'maybe'
            : Number.isFinite(after)
              ? 'finite'
              : 'never',
    isImmediate: typeof after !== 'number' || after < LEAST_DELAY_MS,
    concurrency: spec.concurrency ?? Number.POSITIVE_INFINITY,
    takes,
    reads: t.reads.filter(isCounted).map((input) => ({
      place: indexIn(places, input.place),
      count: input.count,
    })),
    unless: t.unless.map((place) => indexIn(places, place.name)),
    resets: t.reset.map((place) => indexIn(places, place.name)),
    keyed: t.keyed,
    alternatives,
    running: isEffect ? indexIn(places, t.running) : -1,
    attempts: isEffect ? Math.min(spec.retry?.attempts ?? 1, attempts) : 1,
    remembered,
    keptColor: tracked.findKeptInput(t),
  };
}

/** False for list and map places, which can always be read. */
function isCounted(input: CompiledInput): boolean {
  return input.kind === 'tokens' || input.kind === 'running';
}

/**
 * Returns the number of tokens that is tried of an output without a bound. The tokens of a budget, which have no value,
 * are as many as its takers need to fire once each.
 */
function defaultUpTo(net: CompiledNet, name: string): number {
  const place = net.places.get(name);
  if (place?.kind !== 'tokens' || place.schema !== undefined) return DEFAULT_UP_TO;
  const takes = net.transitions.flatMap((t) => t.takes);
  const needed = takes.reduce(
    (sum, input) => (input.place === name && input.mode !== 'all' ? sum + input.count : sum),
    0,
  );
  return Math.max(DEFAULT_UP_TO, Math.min(needed, UNLIMITED - 1));
}

function upToLimit(net: CompiledNet, { upTo = {} }: Bounds): (place: string) => number {
  if (typeof upTo === 'number') {
    natural('bounds.upTo', upTo, 0);
    return () => upTo;
  }
  for (const [name, max] of Object.entries(upTo)) {
    natural(`bounds.upTo["${name}"]`, max, 0);
    if (!net.places.has(name))
      throw new UnknownNameError(net.name, `place "${name}" (bounds.upTo)`, [...net.places.keys()]);
  }
  return (place) => readOwn(upTo, place) ?? defaultUpTo(net, place);
}

function listEnvironment(
  net: CompiledNet,
  { environment = {} }: Bounds,
  places: ReadonlyMap<string, number>,
): ExpandedNet['environment'] {
  for (const [name, tokens] of Object.entries(environment)) {
    natural(`bounds.environment["${name}"]`, tokens, 0);
    if (net.places.get(name)?.kind !== 'tokens')
      throw new UnknownNameError(
        net.name,
        `place "${name}" that tokens could enter (bounds.environment)`,
        [...net.places.values()]
          .filter((place) => place.kind === 'tokens')
          .map((place) => place.name),
      );
  }
  return [...net.places.values()]
    .filter((place) => place.kind === 'tokens')
    .map((place) => ({
      place: indexIn(places, place.name),
      tokens: readOwn(environment, place.name) ?? (place.environment ? 1 : 0),
    }))
    .filter(({ tokens }) => tokens > 0);
}

function describeBounds(
  transitions: readonly ExpandedTransition[],
  places: readonly ExpandedPlace[],
  environment: ExpandedNet['environment'],
  empty: ReadonlySet<number>,
  bounds: Bounds,
  attempts: number,
  shutdowns: boolean,
): readonly string[] {
  const capped = new Map<string, ExpandedOutput>();
  for (const t of transitions) {
    for (const output of t.alternatives.flatMap(({ outputs }) => outputs))
      if (
        output.isUpTo &&
        output.place >= 0 &&
        output.max < output.declared &&
        !empty.has(output.place)
      )
        capped.set(output.name, output);
  }
  const retried = transitions.some((t) => t.attempts > 1);
  return [
    ...environment.map(({ place, tokens }) => `<= ${tokens} in ${places[place]?.name ?? ''}`),
    ...[...capped.values()].map(
      ({ name, max, declared }) => `<= ${max} tokens at once for ${name} (declared: ${declared})`,
    ),
    ...(bounds.together === undefined
      ? []
      : [`<= ${bounds.together} tokens of all upTo outputs of one firing`]),
    ...(bounds.empty ?? []).map((name) => `no token in ${name}`),
    ...(retried ? [`<= ${attempts} attempts`] : []),
    ...(bounds.faults === undefined ? [] : [`<= ${bounds.faults} faults`]),
    ...(bounds.shutdowns === false && !shutdowns ? ['no shutdown'] : []),
  ];
}

function natural(field: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value < UNLIMITED) return value;
  throw new InvalidPropertyError(
    field,
    `must be an integer from ${least} to ${UNLIMITED - 1}; it is ${value}`,
  );
}

function findPlace(net: CompiledNet, places: ReadonlyMap<string, number>, name: string): number {
  const index = places.get(name);
  if (index !== undefined) return index;
  throw new UnknownNameError(net.name, `place "${name}" that stays empty (bounds.empty)`, [
    ...places.keys(),
  ]);
}

function indexIn(places: ReadonlyMap<string, number>, name: string): number {
  const index = places.get(name);
  if (index === undefined) throw new RangeError(`the expanded net has no place "${name}"`);
  return index;
}
