import type { ExpandedNet } from '../system/expand.ts';
import type { NamedEvent } from '../system/find-by-name.ts';
import type { ViewStep } from './view.ts';

/** Returns how often an event happens in a step. */
export function countEvents(
  { transition, place }: NamedEvent,
  { t, begins, added }: ViewStep,
): number {
  if (transition !== undefined) return begins && t === transition ? 1 : 0;
  return place === undefined ? 0 : (added.get(place) ?? 0);
}

/** True if a step surely takes a token of the place. */
export function takesFrom(
  { transitions }: ExpandedNet,
  { t, takes }: ViewStep,
  place: number | undefined,
): boolean {
  return (
    takes &&
    (transitions[t]?.takes ?? []).some(
      (input) => input.place === place && input.mode !== 'all' && input.count > 0,
    )
  );
}

/** True if some step of the transition removes a token of the place. */
export function mayRemove({ transitions }: ExpandedNet, t: number, place: number): boolean {
  const { takes = [], resets = [], running } = transitions[t] ?? {};
  return running === place || resets.includes(place) || takes.some((one) => one.place === place);
}

/** True for an outlet, a list or a map: a place of the net whose tokens are not counted. */
export function isUncounted({ net, placeIndex }: ExpandedNet, name: string | undefined): boolean {
  return (
    name !== undefined && net.places.has(name) && !placeIndex.has(name) && !net.byName.has(name)
  );
}

/** True for the place of the firings of an effect in flight. */
export function isRunningPlace({ places }: ExpandedNet, place: number | undefined): boolean {
  return (places[place ?? -1]?.effect ?? -1) >= 0;
}

/** The place that a property may name, as a list. */
export function listPlace(place: number | undefined): readonly number[] {
  return place === undefined ? [] : [place];
}
