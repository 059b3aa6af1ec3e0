import { placeOf } from './arcs.ts';
import { needsToken } from './arc-rules.ts';
import { faultPlace } from './fault.ts';
import { outputsOf, placesTouched, portPlaces } from './net.ts';
import type { Net } from './net.ts';
import type { AnyPlace } from './place.ts';
import type { Transition } from './transition.ts';

/** What is legal but looks like a mistake. */
export function buildWarnings(of: Net): readonly string[] {
  const touched = new Map(
    of.transitions.flatMap(placesTouched).map((place) => [place.name, place]),
  );
  const places = [...touched.values()];
  const filled = new Set([
    ...of.transitions.flatMap((t) => outputsOf(t.give).map((output) => placeOf(output).name)),
    ...filledFromOutside(of),
  ]);
  return [
    ...places
      .filter((place) => place.kind === 'tokens' && !place.environment && !filled.has(place.name))
      .map((place) => `nobody fills place "${place.name}"`),
    ...neverEnabled(of).map((t) => `transition "${t.name}" can never fire`),
    ...[...new Set(portPlaces(of).map((port) => port.name))]
      .filter((port) => !touched.has(port))
      .map((port) => `nobody joins port "${port}"`),
    ...places
      .filter(holdsAnything)
      .map(
        (place) =>
          `place "${place.name}" holds records of anything: give it a schema for the one thing it means`,
      ),
  ];
}

function filledFromOutside(of: Net): readonly string[] {
  return [
    faultPlace.name,
    ...of.initial.map(({ place }) => place.name),
    ...Object.values(of.in).map((place) => place.name),
  ];
}

/** Transitions that no chain of firings can enable, numbers of tokens aside. */
function neverEnabled(of: Net): readonly Transition[] {
  const reached = new Set(filledFromOutside(of));
  const canHold = (place: AnyPlace): boolean =>
    place.environment || place.kind === 'list' || place.kind === 'map' || reached.has(place.name);
  const canFire = (t: Transition): boolean =>
    [...Object.values(t.take), ...Object.values(t.read)]
      .filter(needsToken)
      .every((input) => canHold(placeOf(input)));
  let waiting: readonly Transition[] = of.transitions;
  for (let found = waiting.filter(canFire); found.length > 0; found = waiting.filter(canFire)) {
    for (const t of found) {
      reached.add(`running(${t.name})`);
      for (const output of outputsOf(t.give)) reached.add(placeOf(output).name);
    }
    const fired = new Set(found);
    waiting = waiting.filter((t) => !fired.has(t));
  }
  return waiting;
}

/** True for a place whose schema says that it lets every value, or every record, through. */
function holdsAnything(place: AnyPlace): boolean {
  if (place.kind !== 'tokens' || place.schema === undefined) return false;
  const definition = memberOf(place.schema, 'def');
  const type = memberOf(definition, 'type');
  const of = type === 'record' ? memberOf(memberOf(definition, 'valueType'), 'def') : definition;
  return ['any', 'unknown'].includes(String(memberOf(of, 'type')));
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
