import { listInputs, listOutputs } from '../language/arcs.ts';
import { findEffect, isCount, placeName } from './arc-rules.ts';
import type { TransitionRule } from './arc-rules.ts';
import type { Net } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';
import { isBackoff } from '../language/retry.ts';
import { effectName } from '../language/place-identity.ts';
import type { Transition } from '../language/transition.ts';

/** The inputs and pinned reads of an effect must survive a crash as data. A firing in flight does not. */
const effectsDoNotTakeFirings: TransitionRule = (t) =>
  t.kind === 'pure'
    ? []
    : [...listInputs(t.take), ...listInputs(t.read)]
        .map(({ place }) => place)
        .filter((place) => place.kind === 'running')
        .map(
          (place) =>
            `is an effect that takes or reads ${place.name}: take or read it in a pure transition`,
        );

const effectsDeclareFailure: TransitionRule = (t) =>
  t.kind === 'effect' && t.failed === undefined
    ? ['is an effect without `failed`, so an error would lose its tokens: add `failed`']
    : [];

const effectLimitsAreValid: TransitionRule = (t) => {
  const { timeoutMs, concurrency, retry } = t;
  return [
    ...(typeof timeoutMs === 'number' && !(Number.isFinite(timeoutMs) && timeoutMs > 0)
      ? [`has a timeout of ${timeoutMs} ms: use a finite number above 0`]
      : []),
    ...(concurrency !== undefined && !isCount(concurrency)
      ? [`has concurrency ${concurrency}: use an integer of at least 1`]
      : []),
    ...(retry !== undefined && !isCount(retry.attempts)
      ? [`has ${retry.attempts} retry attempts: use an integer of at least 1`]
      : []),
    ...(typeof retry?.backoff === 'string' && !isBackoff(retry.backoff)
      ? [`has the backoff "${retry.backoff}": write it like '1s..30s'`]
      : []),
  ];
};

/** A reset must not drop a token that is owed an answer, nor a permit that other firings wait for. */
const owedIsNotDropped: TransitionRule = (t, net) =>
  t.reset.flatMap((place) => {
    const fix = 'take them and output one answer for each with each()';
    if (place.owed) return [`resets "${place.name}", whose tokens are owed an answer: ${fix}`];
    const effect = findEffect(net, effectName(place) ?? '');
    const inputs = listInputs(effect?.take ?? {}).map((input) => input.place);
    const owed = inputs.find((input) => input.owed);
    if (owed !== undefined) {
      return [
        `resets "${place.name}", whose firings hold tokens of "${owed.name}" that are owed an answer: ${fix}`,
      ];
    }
    const permit = inputs.find(
      (input) => isUnit(input) && effect !== undefined && hasOutputTo(effect, input),
    );
    return permit === undefined
      ? []
      : [
          `resets "${place.name}", whose firings hold the permit "${permit.name}" and would return it: take the firings and return the permit`,
        ];
  });

/** The rules for one effect, and for transitions that reset firings. */
export const effectRules: readonly TransitionRule[] = [
  effectsDoNotTakeFirings,
  effectsDeclareFailure,
  effectLimitsAreValid,
  owedIsNotDropped,
];

/**
 * An inhibitor is evaluated when an effect starts, but the outputs of the effect arrive later. So two effects that
 * exclude each other only through places that they fill themselves can both start.
 */
export function effectsExcludeSoundly(net: Net): readonly string[] {
  const effects = net.transitions.filter((t) => t.kind === 'effect' && t.unless.length > 0);
  return effects.flatMap((a, index) =>
    effects.slice(index).flatMap((b) => {
      if (a === b && a.concurrency === 1) return [];
      const between = exclusionsBetween(a, b);
      if (between.length === 0 || sharePermit(net, a, b) || inhibitsRunning(a, b)) return [];
      return between.map(
        (place) =>
          `effects "${a.name}" and "${b.name}" exclude each other only by the inhibitor on "${place}", which is still empty while one of them runs: ` +
          'let both take one permit token, or fill the place in a pure transition',
      );
    }),
  );
}

/** Returns the places by which each effect prevents the other from starting after it ended. */
function exclusionsBetween(a: Transition, b: Transition): readonly string[] {
  const places = (t: Transition): readonly AnyPlace[] =>
    t.unless.filter((place) => place.kind !== 'running');
  const common = places(a).filter((place) => places(b).some((other) => other.name === place.name));
  const shared = common.filter((place) => hasOutputTo(a, place) || hasOutputTo(b, place));
  if (shared.length > 0) return shared.map((place) => place.name);
  const byB = places(a).filter((place) => hasOutputTo(b, place));
  const byA = places(b).filter((place) => hasOutputTo(a, place));
  return byA.length > 0 && byB.length > 0 ? [...byB, ...byA].map((place) => place.name) : [];
}

/** True if both consume a unit place that never holds two tokens, so only one of them can run. */
function sharePermit(net: Net, a: Transition, b: Transition): boolean {
  return listInputs(a.take).some(
    ({ place }) =>
      isUnit(place) &&
      isSingle(net, place) &&
      listInputs(b.take).some((input) => placeName(input) === place.name),
  );
}

function isSingle(net: Net, place: AnyPlace): boolean {
  const initial = net.initial.filter((token) => token.place.name === place.name);
  const several = net.transitions
    .flatMap((t) => listOutputs(t.give))
    .some(
      (output) =>
        output.place.name === place.name &&
        (output.arc === 'each' || (output.arc === 'upTo' && output.max > 1)),
    );
  return !several && !place.environment && initial.reduce((sum, { times }) => sum + times, 0) <= 1;
}

function inhibitsRunning(a: Transition, b: Transition): boolean {
  return (
    a.unless.some((place) => effectName(place) === b.name) &&
    b.unless.some((place) => effectName(place) === a.name)
  );
}

function hasOutputTo(t: Transition, place: AnyPlace): boolean {
  return listOutputs(t.give).some((output) => output.place.name === place.name);
}

function isUnit(place: AnyPlace): boolean {
  return place.kind === 'tokens' && place.schema === undefined;
}
