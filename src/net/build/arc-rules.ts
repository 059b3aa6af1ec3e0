import { arcPlace } from '../language/arcs.ts';
import type { InputArc, OutputArc } from '../language/arcs.ts';
import { listOutputs, listAlternatives } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';
import { effectName } from '../language/place-identity.ts';
import type { Transition } from '../language/transition.ts';

/** Returns the problems of a transition, each as the predicate of a sentence that begins with its name. */
export type TransitionRule = (t: Transition, net: Net) => readonly string[];

const consumes: TransitionRule = (t) =>
  Object.values(t.take).some(needsToken)
    ? []
    : ['takes no token that it needs, so it would fire forever: add an input'];

const oneArcPerPlace: TransitionRule = (t) => {
  const takes = Object.values(t.take);
  const reads = Object.values(t.read);
  const taken = new Set(takes.map(placeName));
  const needed = new Set([...takes, ...reads].filter(needsToken).map(placeName));
  return [
    ...duplicates(takes.map(placeName)).map(
      (name) => `takes from "${name}" twice: use many(n, place), or all(place)`,
    ),
    ...duplicates(reads.map(placeName)).map((name) => `reads "${name}" twice: read all(place)`),
    ...reads
      .map(placeName)
      .filter((name) => taken.has(name))
      .map((name) => `takes and reads "${name}": remove the read`),
    ...t.unless
      .map((place) => place.name)
      .filter((name) => needed.has(name))
      .map(
        (name) =>
          `needs a token in "${name}" and needs "${name}" to be empty, so it can never fire: remove one of the two arcs`,
      ),
  ];
};

const onlyTokensAreTaken: TransitionRule = (t) => {
  const takes = Object.values(t.take).map(arcPlace);
  const reads = Object.values(t.read).map(arcPlace);
  return [
    ...[...takes, ...t.unless, ...t.reset]
      .filter((place) => place.kind === 'list' || place.kind === 'map')
      .map(
        (place) =>
          `takes, inhibits on or resets the ${place.kind} place "${place.name}", which always holds exactly one ${place.kind}: read it instead`,
      ),
    ...[...takes, ...reads, ...t.unless, ...t.reset]
      .filter((place) => place.kind === 'outlet')
      .map(
        (place) =>
          `has an input arc from the outlet "${place.name}": values in an outlet have left the net, so use a tokens place`,
      ),
  ];
};

const readsAreWhole: TransitionRule = (t) =>
  Object.values(t.read).flatMap((input) => {
    if ('kind' in input) return [];
    const place = arcPlace(input);
    if (input.arc === 'matching') {
      return [`reads "${place.name}" with matching(): read all(place) and search for the key`];
    }
    return place.kind === 'list' || place.kind === 'map'
      ? [`reads ${input.arc}() of the ${place.kind} place "${place.name}": read the place itself`]
      : [];
  });

const outputsSuitTheirPlaces: TransitionRule = (t) =>
  listOutputs(t.give).flatMap((output) => {
    const place = arcPlace(output);
    const arc = 'kind' in output ? 'one token' : `${output.arc}()`;
    if (place.kind === 'running') {
      return [`outputs to "${place.name}", which only the start of an effect fills: remove it`];
    }
    return kindsFor(output).includes(place.kind)
      ? []
      : [`outputs ${arc} to the ${place.kind} place "${place.name}": ${advice[place.kind]}`];
  });

const advice = {
  tokens: 'output tokens',
  outlet: 'output tokens',
  list: 'use append(), replacePrefix() or truncate()',
  map: 'use put()',
} as const;

function kindsFor(output: OutputArc): readonly AnyPlace['kind'][] {
  if ('kind' in output) return ['tokens', 'outlet'];
  switch (output.arc) {
    case 'append':
    case 'replacePrefix':
    case 'truncate':
      return ['list'];
    case 'put':
      return ['map'];
    case 'upTo':
    case 'optional':
    case 'each':
      return ['tokens', 'outlet'];
    default:
      return output satisfies never;
  }
}

/** The length of a cut counts items of the list as it was read. After a first cut, the length of a second is invalid. */
const oneCutPerList: TransitionRule = (t) =>
  listAlternatives(t.give).flatMap((outputs) => {
    const cuts = outputs.filter(
      (output) =>
        !('kind' in output) && (output.arc === 'replacePrefix' || output.arc === 'truncate'),
    );
    return duplicates(cuts.map((output) => arcPlace(output).name)).map(
      (name) => `cuts the list "${name}" twice in one firing: cut it once`,
    );
  });

const alternativesExist: TransitionRule = (t) =>
  t.give.give === 'oneOf' && Object.keys(t.give.alternatives).length === 0
    ? ['has a oneOf() without alternatives: use allOf({}) for a transition without outputs']
    : [];

const keysPair: TransitionRule = (t) => {
  const keyed = Object.values(t.take).flatMap((input) =>
    !('kind' in input) && input.arc === 'matching' ? [input] : [],
  );
  const [only] = keyed;
  return keyed.length === 1 && only !== undefined && 'kind' in only.of
    ? ['has only one matching() input: add another, or take the place without matching()']
    : [];
};

const eachNamesAnInput: TransitionRule = (t) =>
  listOutputs(t.give).flatMap((output) =>
    !('kind' in output) && output.arc === 'each' && !(output.input in t.take)
      ? [`outputs each("${output.input}", …) but has no input "${output.input}" in \`take\``]
      : [],
  );

const countsAreCounts: TransitionRule = (t) => [
  ...Object.values(t.take).concat(Object.values(t.read)).flatMap(countProblems),
  ...listOutputs(t.give).flatMap((output) =>
    !('kind' in output) && output.arc === 'upTo' && !isCount(output.max)
      ? [`outputs upTo(${output.max}, …): use an integer of at least 1`]
      : [],
  ),
  ...(Number.isFinite(t.priority) ? [] : [`has priority ${t.priority}: use a finite number`]),
];

function countProblems(input: InputArc): readonly string[] {
  if ('kind' in input) return [];
  if (input.arc === 'matching') return countProblems(input.of);
  return input.arc === 'many' && !isCount(input.count)
    ? [`needs many(${input.count}, …): use an integer of at least 1`]
    : [];
}

const clockIsAToken: TransitionRule = (t) => {
  if (t.after === undefined) return [];
  const [first] = Object.values(t.take);
  const place = first === undefined ? undefined : arcPlace(first);
  return [
    ...(t.kind === 'effect' ? ['is an effect with `after`: use `after` in a pure transition'] : []),
    ...(first !== undefined && place?.kind === 'tokens' && needsToken(first)
      ? []
      : [
          'has `after`, but its first input is not a token that it needs: the clock of a timed transition is the arrival of that token',
        ]),
    ...(typeof t.after === 'number' && !(Number.isFinite(t.after) && t.after >= 0)
      ? [`fires after ${t.after} ms: use a finite number of at least 0`]
      : []),
  ];
};

const runningExists: TransitionRule = (t, net) =>
  inputPlaces(t).flatMap((place) => {
    const name = effectName(place);
    return name === undefined || findEffect(net, name) !== undefined
      ? []
      : [`uses running("${name}"), but the net has no effect with that name`];
  });

/** The rules for the arcs of one transition. */
export const arcRules: readonly TransitionRule[] = [
  consumes,
  oneArcPerPlace,
  onlyTokensAreTaken,
  readsAreWhole,
  outputsSuitTheirPlaces,
  oneCutPerList,
  alternativesExist,
  keysPair,
  eachNamesAnInput,
  countsAreCounts,
  clockIsAToken,
  runningExists,
];

/** Returns the effect of this name, if the net has one. */
export function findEffect(net: Net, name: string): Transition | undefined {
  return net.transitions.find((t) => t.kind === 'effect' && t.name === name);
}

/** Lists the places of the input, inhibitor and reset arcs of a transition. */
export function inputPlaces(t: Transition): readonly AnyPlace[] {
  return [...Object.values(t.take), ...Object.values(t.read)]
    .map(arcPlace)
    .concat(t.unless, t.reset);
}

export function placeName(input: InputArc): string {
  return arcPlace(input).name;
}

/** True for an input whose transition is not enabled while the place is empty. */
export function needsToken(input: InputArc): boolean {
  if ('kind' in input) return input.kind === 'tokens' || input.kind === 'running';
  if (input.arc === 'matching') return needsToken(input.of);
  return input.arc === 'many' ? input.count > 0 : input.min > 0;
}

/** True for an integer of at least 1. */
export function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

/** Returns the names that occur more than once, each one time. */
export function duplicates(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))];
}
