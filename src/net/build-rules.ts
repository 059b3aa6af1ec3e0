import { placeOf } from './arcs.ts';
import type { Input } from './arcs.ts';
import { outputsOf, placesTouched } from './net.ts';
import type { Net } from './net.ts';
import { agree } from './place.ts';
import type { AnyPlace } from './place.ts';
import { effectNameOf } from './transition.ts';
import type { Transition } from './transition.ts';

/** Each rule says what is wrong and how to mend it; a net that breaks one does not build. */
type Rule = (of: Net) => readonly string[];

const perTransition =
  (rule: (t: Transition, of: Net) => readonly string[]): Rule =>
  (of) =>
    of.transitions.flatMap((t) =>
      rule(t, of).map((problem) => `transition "${t.name}" ${problem}`),
    );

const uniqueNames: Rule = (of) =>
  duplicates(of.transitions.map((t) => t.name)).map(
    (name) => `two transitions are called "${name}": rename one`,
  );

/** Places of one name hold the same: one schema object, or one declared version. */
const placesAgree: Rule = (of) => {
  const known = new Map<string, AnyPlace>();
  const problems = new Set<string>();
  const all = [
    ...of.transitions.flatMap(placesTouched),
    ...of.initial.map(({ place }) => place),
    ...Object.values(of.in),
    ...Object.values(of.out),
  ];
  for (const place of all) {
    const before = known.get(place.name);
    known.set(place.name, before ?? place);
    if (before === undefined || agree(before, place)) continue;
    problems.add(
      before.kind === place.kind
        ? `place "${place.name}" has two schemas: share one place object, or give both the same { version }`
        : `place "${place.name}" is a ${before.kind} place here and a ${place.kind} place there`,
    );
  }
  return [...problems];
};

const consumes = perTransition((t) =>
  Object.keys(t.take).length === 0
    ? ['takes nothing, so it would fire for ever: give it an input']
    : [],
);

const oneArcPerPlace = perTransition((t) => [
  ...duplicates(Object.values(t.take).map(nameOf)).map(
    (name) => `takes from "${name}" twice: use many(n, place), or all(place)`,
  ),
  ...Object.values(t.read)
    .map(nameOf)
    .filter((name) => Object.values(t.take).some((input) => nameOf(input) === name))
    .map((name) => `takes and reads "${name}": it has what it takes`),
  ...t.unless
    .map((place) => place.name)
    .filter((name) =>
      [...Object.values(t.take), ...Object.values(t.read)].some(
        (input) => nameOf(input) === name && needsToken(input),
      ),
    )
    .map((name) => `needs a token of "${name}" and needs it empty: it can never fire`),
]);

const onlyTokensAreTaken = perTransition((t) => [
  ...[...Object.values(t.take).map(placeOf), ...t.unless, ...t.reset]
    .filter((place) => place.kind === 'list' || place.kind === 'map')
    .map(
      (place) =>
        `takes, inhibits on or resets the ${place.kind} place "${place.name}", which always holds exactly one ${place.kind}: read it`,
    ),
  ...[...Object.values(t.take), ...Object.values(t.read)]
    .map(placeOf)
    .concat(t.unless, t.reset)
    .filter((place) => place.kind === 'outlet')
    .map(
      (place) =>
        `has an input arc from the outlet "${place.name}": what enters an outlet has left the net`,
    ),
  ...outputsOf(t.give)
    .map(placeOf)
    .filter((place) => place.kind === 'running')
    .map((place) => `gives to "${place.name}": only its own start puts a firing there`),
]);

const runningExists = perTransition((t, of) =>
  [
    ...Object.values(t.take).map(placeOf),
    ...Object.values(t.read).map(placeOf),
    ...t.unless,
    ...t.reset,
  ].flatMap((place) => {
    const name = effectNameOf(place);
    if (
      name === undefined ||
      of.transitions.some((other) => other.kind === 'effect' && other.name === name)
    )
      return [];
    return [`speaks of running("${name}"), but the net has no effect of that name`];
  }),
);

const owedIsNotDropped = perTransition((t) =>
  t.reset
    .filter((place) => place.owed)
    .map(
      (place) =>
        `resets "${place.name}", whose tokens are owed an answer: take them and give the answer, with each() as many as there were`,
    ),
);

/** What an effect holds and what it pinned must outlive a crash as data: a firing does not. */
const effectsDoNotTakeFirings = perTransition((t) =>
  t.kind === 'pure'
    ? []
    : [...Object.values(t.take), ...Object.values(t.read)]
        .map(placeOf)
        .filter((place) => place.kind === 'running')
        .map(
          (place) =>
            `is an effect that takes or reads ${place.name}: cancel or look in a pure transition`,
        ),
);

const keysPair = perTransition((t) => {
  const keyed = Object.values(t.take).filter(
    (input) => !('kind' in input) && input.arc === 'matching',
  );
  const alone =
    keyed.length === 1 &&
    keyed[0] !== undefined &&
    !('kind' in keyed[0]) &&
    keyed[0].arc === 'matching' &&
    'kind' in keyed[0].of;
  return alone ? ['has one matching() input and nothing to match it with'] : [];
});

const eachNamesAnInput = perTransition((t) =>
  outputsOf(t.give).flatMap((output) =>
    !('kind' in output) && output.arc === 'each' && !(output.input in t.take)
      ? [`gives each("${output.input}", …) but takes nothing called "${output.input}"`]
      : [],
  ),
);

const effectsSayHowTheyFail = perTransition((t) =>
  t.kind === 'effect' && t.failed === undefined
    ? ['is an effect without `failed`: a throw would lose its tokens']
    : [],
);

/**
 * An inhibitor is judged when an effect starts; what the effect gives comes later. So two effects that exclude each
 * other only through a place that either of them fills can both start.
 */
const effectsExcludeSoundly: Rule = (of) => {
  const effects = of.transitions.filter((t) => t.kind === 'effect');
  return effects.flatMap((a, index) =>
    effects.slice(index).flatMap((b) => {
      if (a === b && a.concurrency === 1) return [];
      const shared = a.unless.filter(
        (place) =>
          place.kind !== 'running' &&
          b.unless.some((other) => other.name === place.name) &&
          (gives(a, place) || gives(b, place)),
      );
      if (shared.length === 0 || sharePermit(a, b) || inhibitsRunning(a, b)) return [];
      return shared.map(
        (place) =>
          `effects "${a.name}" and "${b.name}" exclude each other only by the inhibitor on "${place.name}", which is still empty while one of them runs: ` +
          'let both take one permit token, or commit in a pure transition',
      );
    }),
  );
};

const gives = (t: Transition, place: AnyPlace): boolean =>
  outputsOf(t.give).some((output) => placeOf(output).name === place.name);

/** A unit place that both consume: only one can have its token. */
const sharePermit = (a: Transition, b: Transition): boolean =>
  Object.values(a.take)
    .map(placeOf)
    .some(
      (place) =>
        place.schema === undefined &&
        place.kind === 'tokens' &&
        Object.values(b.take).some((input) => nameOf(input) === place.name),
    );

const inhibitsRunning = (a: Transition, b: Transition): boolean =>
  a.unless.some((place) => effectNameOf(place) === b.name) &&
  b.unless.some((place) => effectNameOf(place) === a.name);

const rules: readonly Rule[] = [
  uniqueNames,
  placesAgree,
  consumes,
  oneArcPerPlace,
  onlyTokensAreTaken,
  runningExists,
  owedIsNotDropped,
  effectsDoNotTakeFirings,
  keysPair,
  eachNamesAnInput,
  effectsSayHowTheyFail,
  effectsExcludeSoundly,
];

export function buildProblems(of: Net): readonly string[] {
  return rules.flatMap((rule) => rule(of));
}

/** What is legal but looks like a mistake. */
export function buildWarnings(of: Net): readonly string[] {
  const filled = new Set([
    ...of.transitions.flatMap((t) => outputsOf(t.give).map((output) => placeOf(output).name)),
    ...of.initial.map(({ place }) => place.name),
    ...Object.values(of.in).map((place) => place.name),
    'net.fault',
  ]);
  const all = new Map(of.transitions.flatMap(placesTouched).map((place) => [place.name, place]));
  const emptyForEver = (place: AnyPlace): boolean =>
    place.kind === 'tokens' && !place.environment && !filled.has(place.name);
  return [
    ...[...all.values()].filter(emptyForEver).map((place) => `nobody fills place "${place.name}"`),
    ...of.transitions
      .filter((t) =>
        Object.values(t.take).some((input) => needsToken(input) && emptyForEver(placeOf(input))),
      )
      .map((t) => `transition "${t.name}" can never fire`),
    ...[...Object.values(of.in), ...Object.values(of.out)]
      .filter((port) => !all.has(port.name))
      .map((port) => `nobody joins port "${port.name}"`),
    ...[...all.values()]
      .filter(holdsAnything)
      .map(
        (place) =>
          `place "${place.name}" holds records of anything: give it a schema for the one thing it means`,
      ),
  ];
}

/** True for a place whose schema lets every value, or every record, through. Read from the schema's own JSON Schema where it offers one. */
function holdsAnything(place: AnyPlace): boolean {
  if (place.kind !== 'tokens' || place.schema === undefined) return false;
  const definition: unknown = Reflect.get(place.schema, 'def');
  if (typeof definition !== 'object' || definition === null || !('type' in definition))
    return false;
  if (definition.type === 'any' || definition.type === 'unknown') return true;
  if (definition.type !== 'record') return false;
  const values: unknown = Reflect.get(definition, 'valueType');
  const inner: unknown =
    typeof values === 'object' && values !== null ? Reflect.get(values, 'def') : undefined;
  return (
    typeof inner === 'object' &&
    inner !== null &&
    'type' in inner &&
    (inner.type === 'any' || inner.type === 'unknown')
  );
}

function nameOf(input: Input): string {
  return placeOf(input).name;
}

function needsToken(input: Input): boolean {
  if ('kind' in input) return input.kind === 'tokens' || input.kind === 'running';
  if (input.arc === 'matching') return needsToken(input.of);
  return !(input.arc === 'all' && input.min === 0);
}

function duplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
