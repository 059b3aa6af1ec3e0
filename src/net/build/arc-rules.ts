import { arcPlace } from '../language/arcs.ts';
import type { InputArc, OutputArc } from '../language/arcs.ts';
import { listOutputs } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';
import { effectName } from '../language/transition.ts';
import type { Transition } from '../language/transition.ts';

/** What is wrong with a transition, as the end of a sentence that begins with its name. */
export type TransitionRule = (t: Transition, net: Net) => readonly string[];

const consumes: TransitionRule = (t) =>
  Object.values(t.take).some(needsToken)
    ? []
    : ['takes nothing, or nothing it must have, so it would fire for ever: give it an input'];

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
      .map((name) => `takes and reads "${name}": it has what it takes`),
    ...t.unless
      .map((place) => place.name)
      .filter((name) => needed.has(name))
      .map((name) => `needs a token of "${name}" and needs it empty: it can never fire`),
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
          `takes, inhibits on or resets the ${place.kind} place "${place.name}", which always holds exactly one ${place.kind}: read it`,
      ),
    ...[...takes, ...reads, ...t.unless, ...t.reset]
      .filter((place) => place.kind === 'outlet')
      .map(
        (place) =>
          `has an input arc from the outlet "${place.name}": what enters an outlet has left the net`,
      ),
  ];
};

const readsAreWhole: TransitionRule = (t) =>
  Object.values(t.read).flatMap((input) => {
    if ('kind' in input) return [];
    const place = arcPlace(input);
    if (input.arc === 'matching') {
      return [`reads "${place.name}" with matching(): read all(place) and look for the key`];
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
      return [`gives to "${place.name}": only its own start puts a firing there`];
    }
    return kindsFor(output).includes(place.kind)
      ? []
      : [`gives ${arc} to the ${place.kind} place "${place.name}": ${advice[place.kind]}`];
  });

const advice = {
  tokens: 'give it tokens',
  outlet: 'give it tokens',
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

/** A length speaks of the list that was read: after a first cut, a second one's would speak of nothing. */
const oneCutPerList: TransitionRule = (t) =>
  listAlternatives(t).flatMap((outputs) => {
    const cuts = outputs.filter(
      (output) =>
        !('kind' in output) && (output.arc === 'replacePrefix' || output.arc === 'truncate'),
    );
    return duplicates(cuts.map((output) => arcPlace(output).name)).map(
      (name) => `cuts the list "${name}" twice in one firing: cut it once`,
    );
  });

function listAlternatives({ give }: Transition): readonly (readonly OutputArc[])[] {
  if (give.give === 'allOf') return [Object.values(give.outputs)];
  return Object.values(give.alternatives).map((alternative) =>
    'give' in alternative ? Object.values(alternative.outputs) : [alternative],
  );
}

const alternativesExist: TransitionRule = (t) =>
  t.give.give === 'oneOf' && Object.keys(t.give.alternatives).length === 0
    ? ['gives one of nothing: use allOf({}) for a transition without outputs']
    : [];

const keysPair: TransitionRule = (t) => {
  const keyed = Object.values(t.take).flatMap((input) =>
    !('kind' in input) && input.arc === 'matching' ? [input] : [],
  );
  const [only] = keyed;
  return keyed.length === 1 && only !== undefined && 'kind' in only.of
    ? ['has one matching() input and nothing to match it with']
    : [];
};

const eachNamesAnInput: TransitionRule = (t) =>
  listOutputs(t.give).flatMap((output) =>
    !('kind' in output) && output.arc === 'each' && !(output.input in t.take)
      ? [`gives each("${output.input}", …) but takes nothing called "${output.input}"`]
      : [],
  );

const countsAreCounts: TransitionRule = (t) => [
  ...Object.values(t.take).concat(Object.values(t.read)).flatMap(countProblems),
  ...listOutputs(t.give).flatMap((output) =>
    !('kind' in output) && output.arc === 'upTo' && !isCount(output.max)
      ? [`gives upTo(${output.max}, …): it must be a whole number from 1`]
      : [],
  ),
  ...(Number.isFinite(t.priority) ? [] : [`has priority ${t.priority}: it must be a number`]),
];

function countProblems(input: InputArc): readonly string[] {
  if ('kind' in input) return [];
  if (input.arc === 'matching') return countProblems(input.of);
  return input.arc === 'many' && !isCount(input.count)
    ? [`needs many(${input.count}, …): it must be a whole number from 1`]
    : [];
}

const clockIsAToken: TransitionRule = (t) => {
  if (t.after === undefined) return [];
  const [first] = Object.values(t.take);
  const place = first === undefined ? undefined : arcPlace(first);
  return [
    ...(t.kind === 'effect' ? ['is an effect with `after`: wait in a pure transition'] : []),
    ...(first !== undefined && place?.kind === 'tokens' && needsToken(first)
      ? []
      : ['is timed by its first input, which must be a token it needs: its clock is that token’s']),
    ...(typeof t.after === 'number' && !(Number.isFinite(t.after) && t.after >= 0)
      ? [`fires after ${t.after} ms: it must be a number from 0`]
      : []),
  ];
};

const runningExists: TransitionRule = (t, net) =>
  inputPlaces(t).flatMap((place) => {
    const name = effectName(place);
    return name === undefined || findEffect(net, name) !== undefined
      ? []
      : [`speaks of running("${name}"), but the net has no effect of that name`];
  });

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

export function findEffect(net: Net, name: string): Transition | undefined {
  return net.transitions.find((t) => t.kind === 'effect' && t.name === name);
}

/** Every place that decides whether a transition is enabled, or is emptied by it. */
export function inputPlaces(t: Transition): readonly AnyPlace[] {
  return [...Object.values(t.take), ...Object.values(t.read)]
    .map(arcPlace)
    .concat(t.unless, t.reset);
}

export function placeName(input: InputArc): string {
  return arcPlace(input).name;
}

/** True for an input that keeps its transition from firing while it is empty. */
export function needsToken(input: InputArc): boolean {
  if ('kind' in input) return input.kind === 'tokens' || input.kind === 'running';
  if (input.arc === 'matching') return needsToken(input.of);
  return input.arc === 'many' ? input.count > 0 : input.min > 0;
}

export function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

export function duplicates(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))];
}
