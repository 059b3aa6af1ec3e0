import { running } from '../../net/index.ts';
import { isInAnyScope, renamePlace, scopedPlaceName } from '../../net/internal.ts';
import type { AnyPlace, Effect, Net, Place, PlaceKind } from '../../net/index.ts';

/** The `running(…)` places of a net's effects. */
export function runningPlaces(net: Net): readonly AnyPlace[] {
  return net.transitions
    .filter((t): t is Effect => t.kind === 'effect')
    .map((t: Effect) => running(t));
}

/** The place with its name scoped to one agent: `billing/tool.call`, `running(billing/tool.run)`. */
export function scopedPlace<T, K extends PlaceKind>(
  agentName: string,
  place: Place<T, K>,
): Place<T, K> {
  return renamePlace(place, (name) => scopedPlaceName(agentName, name));
}

/** The places among `names` that are this place, or its scoped place of some agent. */
export function placesNamed<T, K extends PlaceKind>(
  place: Place<T, K>,
  names: readonly string[],
): readonly Place<T, K>[] {
  return names
    .filter((name) => isInAnyScope(name, place.name))
    .map((name) => renamePlace(place, () => name));
}
