import { createHash } from 'node:crypto';
import { omitUndefined } from '../../core/internal.ts';
import { listAlternatives, listInputs } from '../language/arcs.ts';
import type { TaggedInput, TaggedOutput } from '../language/arcs.ts';
import { buildProblems } from './build-rules.ts';
import { buildWarnings } from './build-warnings.ts';
import { NetBuildError } from '../language/net-errors.ts';
import { collectFormerNames } from '../language/former-names.ts';
import type { FormerNames } from '../language/former-names.ts';
import { findLabelRules } from '../language/label-rule.ts';
import type { LabelRule } from '../language/label-rule.ts';
import { placesIn } from '../language/net.ts';
import type { Cluster, InitialToken, Net } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';
import { effectName, runningPlaceName } from '../language/place-identity.ts';
import type { Transition } from '../language/transition.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- key functions were typed where the arc was made; inside the net they are data
type Untyped = any;

/** One input arc, prepared for binding. */
export interface CompiledInput {
  readonly key: string;
  readonly place: string;
  readonly kind: AnyPlace['kind'];
  /** The name of the effect, if the place is a running place. */
  readonly effect: string | undefined;
  readonly mode: 'one' | 'many' | 'all';
  /** The minimum number of tokens; for `many` the exact number. */
  readonly count: number;
  readonly getKey: ((token: Untyped) => string) | undefined;
}

/** One output arc with its place. */
export interface CompiledOutput {
  readonly key: string;
  readonly output: TaggedOutput;
  readonly place: AnyPlace;
  /** The rules about the labels of its tokens. Undefined without rules. */
  readonly labels?: readonly LabelRule[] | undefined;
}

/** One of the sets of outputs that a transition may return. */
export interface CompiledAlternative {
  /** True if its outputs are members of one object. */
  readonly grouped: boolean;
  readonly outputs: readonly CompiledOutput[];
  /** The keys of `outputs`. */
  readonly keys: ReadonlySet<string>;
}

/** A transition with its arcs prepared for binding. */
export interface CompiledTransition {
  readonly index: number;
  readonly name: string;
  readonly spec: Transition;
  readonly takes: readonly CompiledInput[];
  readonly reads: readonly CompiledInput[];
  readonly unless: readonly AnyPlace[];
  readonly reset: readonly AnyPlace[];
  /** True if some input is `matching`. */
  readonly keyed: boolean;
  /** True if firing it may end firings in flight, because it takes or resets a running place. */
  readonly cancels: boolean;
  /** `running(name)`. */
  readonly running: string;
  /** Outputs by the name of the alternative. An `allOf` has one alternative, named ''. */
  readonly alternatives: ReadonlyMap<string, CompiledAlternative>;
}

/** A net that passed the build rules, with indexes. The executor, the diagrams and the proofs use the same object. */
export interface CompiledNet {
  readonly name: string;
  /**
   * A hash of places, arcs, multiplicities and schema versions, but not of behavior. A session continues without an
   * upgrade under a net with an equal hash.
   */
  readonly hash: string;
  readonly places: ReadonlyMap<string, AnyPlace>;
  readonly transitions: readonly CompiledTransition[];
  readonly byName: ReadonlyMap<string, CompiledTransition>;
  /** Declared versions, by place. */
  readonly versions: Readonly<Record<string, number>>;
  /** The current names of places and transitions that had other names. The hash does not depend on them. */
  readonly formerNames: FormerNames;
  readonly initial: readonly InitialToken[];
  readonly clusters: readonly Cluster[];
  /** By place (or `running(t)`): the transitions that a change of the place may enable or disable. */
  readonly touched: ReadonlyMap<string, readonly CompiledTransition[]>;
  /** By place: the timed transitions whose clock starts when a token arrives there. */
  readonly timedBy: ReadonlyMap<string, readonly CompiledTransition[]>;
  readonly warnings: readonly string[];
}

/**
 * Checks and indexes a net.
 * @throws NetBuildError with all problems, if the net breaks a build rule.
 */
export function compile(net: Net): CompiledNet {
  const problems = buildProblems(net);
  if (problems.length > 0) throw new NetBuildError(net.name, problems);
  const places = placesByName(net);
  const transitions = net.transitions.map(compileTransition);
  const touched = new Map<string, CompiledTransition[]>();
  const timedBy = new Map<string, CompiledTransition[]>();
  const addTransition = (
    map: Map<string, CompiledTransition[]>,
    place: string,
    t: CompiledTransition,
  ): void => {
    const list = map.get(place) ?? [];
    // All arcs of a transition are added in sequence, so comparing with the last entry finds duplicates.
    if (list.at(-1) !== t) list.push(t);
    map.set(place, list);
  };
  for (const t of transitions) {
    for (const input of [...t.takes, ...t.reads]) addTransition(touched, input.place, t);
    for (const place of t.unless) addTransition(touched, place.name, t);
    if (t.spec.concurrency !== undefined) addTransition(touched, t.running, t);
    const clock = t.takes[0];
    if (t.spec.after !== undefined && clock !== undefined) addTransition(timedBy, clock.place, t);
  }
  return {
    name: net.name,
    hash: hashNet(places, transitions),
    places,
    transitions,
    byName: new Map(transitions.map((t) => [t.name, t])),
    versions: placeVersions(places),
    formerNames: collectFormerNames(net),
    initial: net.initial,
    clusters: net.clusters,
    touched,
    timedBy,
    warnings: buildWarnings(net),
  };
}

/** Returns one place for each name, merged from all places with that name. */
function placesByName(net: Net): ReadonlyMap<string, AnyPlace> {
  const places = new Map<string, AnyPlace>();
  for (const place of [faultPlace, unhandledFaultPlace, ...placesIn(net)]) {
    if (place.kind === 'running') continue;
    const known = places.get(place.name);
    places.set(place.name, known === undefined ? place : mergePlaces(known, place));
  }
  return places;
}

/** Merges the declarations of two compatible places. */
function mergePlaces(a: AnyPlace, b: AnyPlace): AnyPlace {
  if (a === b) return a;
  return {
    ...a,
    version: a.version ?? b.version,
    owed: a.owed || b.owed,
    environment: a.environment || b.environment,
    barrier: a.barrier || b.barrier,
    formerNames: [...new Set([...a.formerNames, ...b.formerNames])],
    ...omitUndefined({ label: a.label ?? b.label }),
  };
}

function compileTransition(spec: Transition, index: number): CompiledTransition {
  const takes = listInputs(spec.take).map(compileInput);
  const alternatives = new Map(
    listAlternatives(spec.give).map(({ name, grouped, outputs }) => [
      name,
      {
        grouped,
        outputs: outputs.map(({ key, output }) => ({
          key,
          output,
          place: output.place,
          labels: findLabelRules(spec.labels, name, key),
        })),
        keys: new Set(outputs.map(({ key }) => key)),
      },
    ]),
  );
  return {
    index,
    name: spec.name,
    spec,
    takes,
    reads: listInputs(spec.read).map(compileInput),
    unless: spec.unless,
    reset: [...new Map(spec.reset.map((place) => [place.name, place])).values()],
    keyed: takes.some((input) => input.getKey !== undefined),
    cancels:
      takes.some((input) => input.effect !== undefined) ||
      spec.reset.some((place) => place.kind === 'running'),
    running: runningPlaceName(spec.name),
    alternatives,
  };
}

function compileInput({ key, arc: mode, place, count, getKey }: TaggedInput): CompiledInput {
  const { name, kind } = place;
  return { key, place: name, kind, effect: effectName(place), mode, count, getKey };
}

function placeVersions(places: ReadonlyMap<string, AnyPlace>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...places.values()].flatMap(({ name, version }) =>
      version === undefined ? [] : [[name, version]],
    ),
  );
}

function hashNet(
  places: ReadonlyMap<string, AnyPlace>,
  transitions: readonly CompiledTransition[],
): string {
  const input = ({ key, place, mode, count, getKey }: CompiledInput): unknown => [
    key,
    place,
    mode,
    count,
    getKey !== undefined,
  ];
  const output = ({ key, output, place }: CompiledOutput): unknown => [
    key,
    place.name,
    output.arc,
    outputBound(output),
  ];
  const structure = [
    [...places.values()]
      .map((place) => [place.name, place.kind, place.version ?? 0])
      .toSorted(byFirst),
    transitions
      .map((t) => [
        t.name,
        t.spec.kind,
        t.takes.map(input),
        t.reads.map(input),
        t.unless.map((place) => place.name),
        t.reset.map((place) => place.name),
        t.spec.after !== undefined,
        [...t.alternatives].map(([key, { outputs }]) => [key, outputs.map(output)]),
      ])
      .toSorted(byFirst),
  ];
  return createHash('sha256').update(JSON.stringify(structure)).digest('hex').slice(0, 16);
}

function outputBound(output: TaggedOutput): number | string {
  if (output.arc === 'one') return 1;
  if (output.arc === 'upTo') return output.max;
  return output.arc === 'each' ? output.input : 0;
}

function byFirst(a: readonly unknown[], b: readonly unknown[]): number {
  return String(a[0]) < String(b[0]) ? -1 : 1;
}
