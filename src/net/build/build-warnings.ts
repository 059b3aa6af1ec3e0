import { runningPlaceName } from '../language/place-identity.ts';
import { readMember } from '../../core/internal.ts';
import { listInputs, listOutputs } from '../language/arcs.ts';
import { needsToken } from './arc-rules.ts';
import { faultPlace } from '../language/fault.ts';
import { placesTouched, portPlaces } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';
import type { Transition } from '../language/transition.ts';

/** Returns warnings about structures that are valid but look like mistakes. */
export function buildWarnings(net: Net): readonly string[] {
  const touched = new Map(
    net.transitions.flatMap(placesTouched).map((place) => [place.name, place]),
  );
  const places = [...touched.values()];
  const filled = new Set([
    ...net.transitions.flatMap((t) => listOutputs(t.give).map((output) => output.place.name)),
    ...filledFromOutside(net),
  ]);
  return [
    ...places
      .filter((place) => place.kind === 'tokens' && !place.environment && !filled.has(place.name))
      .map((place) => `no transition produces tokens for place "${place.name}"`),
    ...neverEnabled(net).map((t) => `transition "${t.name}" can never fire`),
    ...[...new Set(portPlaces(net).map((port) => port.name))]
      .filter((port) => !touched.has(port))
      .map((port) => `no transition uses port "${port}"`),
    ...places
      .filter(acceptsAnything)
      .map(
        (place) =>
          `the schema of place "${place.name}" accepts any value: use a schema for one kind of token`,
      ),
  ];
}

function filledFromOutside(net: Net): readonly string[] {
  return [
    faultPlace.name,
    ...net.initial.map(({ place }) => place.name),
    ...Object.values(net.in).map((place) => place.name),
  ];
}

/** Lists the transitions that no sequence of firings can enable. Numbers of tokens are ignored. */
function neverEnabled(net: Net): readonly Transition[] {
  const reached = new Set(filledFromOutside(net));
  const canHold = (place: AnyPlace): boolean =>
    place.environment || place.kind === 'list' || place.kind === 'map' || reached.has(place.name);
  const canFire = (t: Transition): boolean =>
    [...listInputs(t.take), ...listInputs(t.read)]
      .filter(needsToken)
      .every(({ place }) => canHold(place));
  let waiting: readonly Transition[] = net.transitions;
  for (let found = waiting.filter(canFire); found.length > 0; found = waiting.filter(canFire)) {
    for (const t of found) {
      reached.add(runningPlaceName(t.name));
      for (const output of listOutputs(t.give)) reached.add(output.place.name);
    }
    const fired = new Set(found);
    waiting = waiting.filter((t) => !fired.has(t));
  }
  return waiting;
}

/** True if the schema of a place accepts every value, or every record. Only schemas that describe themselves are known. */
function acceptsAnything(place: AnyPlace): boolean {
  if (place.kind !== 'tokens' || place.schema === undefined) return false;
  const definition = readMember(place.schema, 'def');
  const type = readMember(definition, 'type');
  const valueDefinition =
    type === 'record' ? readMember(readMember(definition, 'valueType'), 'def') : definition;
  return ['any', 'unknown'].includes(String(readMember(valueDefinition, 'type')));
}
