import { listAlternatives, listInputs, listOutputs } from '../language/arcs.ts';
import type { TaggedInput, TaggedOutput } from '../language/arcs.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { readsAttempt } from '../language/firing-token.ts';
import { placesIn } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';
import { effectName } from '../language/place-identity.ts';
import type { Transition } from '../language/transition.ts';

/** Returns the problems of a transition, each as the predicate of a sentence that begins with its name. */
export type TransitionRule = (t: Transition, net: Net) => readonly string[];

const consumes: TransitionRule = (t) =>
  listInputs(t.take).some(needsToken)
    ? []
    : ['takes no token that it needs, so it would fire forever: add an input'];

const oneArcPerPlace: TransitionRule = (t) => {
  const takes = listInputs(t.take);
  const reads = listInputs(t.read);
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
  const takes = listInputs(t.take).map(({ place }) => place);
  const reads = listInputs(t.read).map(({ place }) => place);
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
  listInputs(t.read).flatMap(({ arc, place, getKey }) => {
    if (getKey !== undefined) {
      return [`reads "${place.name}" with matching(): read all(place) and search for the key`];
    }
    return arc !== 'one' && (place.kind === 'list' || place.kind === 'map')
      ? [`reads ${arc}() of the ${place.kind} place "${place.name}": read the place itself`]
      : [];
  });

const outputsSuitTheirPlaces: TransitionRule = (t) =>
  listOutputs(t.give).flatMap((output) => {
    const { place } = output;
    const arc = output.arc === 'one' ? 'one token' : `${output.arc}()`;
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

function kindsFor(output: TaggedOutput): readonly AnyPlace['kind'][] {
  switch (output.arc) {
    case 'append':
    case 'replacePrefix':
    case 'truncate':
      return ['list'];
    case 'put':
      return ['map'];
    case 'one':
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
  listAlternatives(t.give).flatMap(({ outputs }) => {
    const cuts = outputs.filter(
      ({ output }) => output.arc === 'replacePrefix' || output.arc === 'truncate',
    );
    return duplicates(cuts.map(({ output }) => output.place.name)).map(
      (name) => `cuts the list "${name}" twice in one firing: cut it once`,
    );
  });

const alternativesExist: TransitionRule = (t) =>
  t.give.give === 'oneOf' && Object.keys(t.give.alternatives).length === 0
    ? ['has a oneOf() without alternatives: use allOf({}) for a transition without outputs']
    : [];

const keysPair: TransitionRule = (t) => {
  const keyed = listInputs(t.take).filter(({ getKey }) => getKey !== undefined);
  return keyed.length === 1 && keyed[0]?.arc === 'one'
    ? ['has only one matching() input: add another, or take the place without matching()']
    : [];
};

/** The key of a token never changes. The attempt of a firing does. */
const keysAreConstant: TransitionRule = (t) =>
  listInputs(t.take).flatMap(({ place, getKey }) =>
    place.kind === 'running' && getKey !== undefined && readsAttempt(getKey)
      ? [
          `matches "${place.name}" by the attempt of a firing, which changes while the firing runs: use its firingId, startedAt or inputs`,
        ]
      : [],
  );

const eachNamesAnInput: TransitionRule = (t) =>
  listOutputs(t.give).flatMap((output) =>
    output.arc === 'each' && !(output.input in t.take)
      ? [`outputs each("${output.input}", …) but has no input "${output.input}" in \`take\``]
      : [],
  );

/** A label rule is about an output with labels, and copies the label of one token. */
const labelRulesHavePlaces: TransitionRule = (t, net) => {
  if (t.labels === undefined) return [];
  const labeled = new Set(placesIn(net).flatMap((one) => (one.label ? [one.name] : [])));
  const inputs = listInputs(t.take);
  return t.labels.flatMap(({ output, alternative, as }) => {
    const outputs = listAlternatives(t.give)
      .filter(({ name }) => alternative === undefined || name === alternative)
      .flatMap((one) => one.outputs.filter(({ key }) => key === output));
    if (outputs.length === 0)
      return [`declares labels of the output "${output}", which it does not have: name an output`];
    const bare = outputs.find(({ output: { place } }) => !labeled.has(place.name));
    if (bare !== undefined)
      return [
        `declares labels of "${output}", but "${bare.output.place.name}" has none: give the place a label`,
      ];
    const source = inputs.find(({ key }) => key === as);
    if (as === undefined) return [];
    if (source?.arc !== 'one' || !labeled.has(source.place.name))
      return [
        `gives "${output}" the label of "${as}", which is not an input of one token with a label`,
      ];
    const first = inputs.find(({ arc, place }) => arc === 'one' && labeled.has(place.name));
    if (t.kind === 'pure' || first === source) return [];
    return [
      `gives "${output}" the label of "${as}": an effect keeps the label of its first input of one token with a label, "${first?.key ?? ''}"`,
    ];
  });
};

const countsAreCounts: TransitionRule = (t) => [
  ...[...listInputs(t.take), ...listInputs(t.read)].flatMap(countProblems),
  ...listOutputs(t.give).flatMap((output) =>
    output.arc === 'upTo' && !isCount(output.max)
      ? [`outputs upTo(${output.max}, …): use an integer of at least 1`]
      : [],
  ),
  ...(Number.isFinite(t.priority) ? [] : [`has priority ${t.priority}: use a finite number`]),
];

function countProblems({ arc, count }: TaggedInput): readonly string[] {
  return arc === 'many' && !isCount(count)
    ? [`needs many(${count}, …): use an integer of at least 1`]
    : [];
}

const clockIsAToken: TransitionRule = (t) => {
  if (t.after === undefined) return [];
  const [first] = listInputs(t.take);
  return [
    ...(t.kind === 'effect' ? ['is an effect with `after`: use `after` in a pure transition'] : []),
    ...(first?.place.name === faultPlace.name || first?.place.name === unhandledFaultPlace.name
      ? [
          `has \`after\`, but its first input is "${first.place.name}", whose tokens have no clock: take the fault in a transition without \`after\`, and let the clock be that of the token it gives`,
        ]
      : []),
    ...(first?.place.kind === 'tokens' && needsToken(first)
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
  keysAreConstant,
  eachNamesAnInput,
  labelRulesHavePlaces,
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
  return [...listInputs(t.take), ...listInputs(t.read)]
    .map(({ place }) => place)
    .concat(t.unless, t.reset);
}

export function placeName({ place }: TaggedInput): string {
  return place.name;
}

/** True for an input whose transition is not enabled while the place is empty. */
export function needsToken({ arc, place, count }: TaggedInput): boolean {
  return arc === 'one' ? place.kind === 'tokens' || place.kind === 'running' : count > 0;
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
