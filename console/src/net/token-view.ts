import type { Marking } from '../../../src/net/journal/index.ts';

/** What a place holds, for a drawing. */
export interface PlaceContent {
  readonly count: number;
  /** True if a clock runs for one of its tokens. */
  readonly timed: boolean;
}

/** An effect in flight, for a drawing. */
export interface RunningEffect {
  readonly firing: number;
  readonly startedAt: number;
  readonly attempt: number;
  readonly crashes: number;
  readonly retryAt: number | undefined;
}

/** A marking as the drawing of a net needs it. */
export interface MarkingView {
  readonly places: ReadonlyMap<string, PlaceContent>;
  readonly running: ReadonlyMap<string, readonly RunningEffect[]>;
}

/** Returns what is in each place and which effects run. */
export function viewMarking(marking: Marking): MarkingView {
  const places = new Map<string, PlaceContent>();
  for (const [place, tokens] of marking.tokens)
    places.set(place, {
      count: tokens.length,
      timed: tokens.some(({ due }) => due !== undefined),
    });
  for (const [place, { items }] of marking.lists)
    places.set(place, { count: items.length, timed: false });
  for (const [place, entries] of marking.maps)
    places.set(place, { count: Object.keys(entries).length, timed: false });
  const running = Map.groupBy(
    [...marking.firings.values()].map(({ id, t, startedAt, attempt, crashes, retryAt }) => ({
      t,
      effect: { firing: id, startedAt, attempt, crashes, retryAt },
    })),
    ({ t }) => t,
  );
  return {
    places,
    running: new Map([...running].map(([t, all]) => [t, all.map(({ effect }) => effect)])),
  };
}

/** The values in a place, as JSON. */
export function valuesIn(marking: Marking, place: string): readonly unknown[] {
  const list = marking.lists.get(place);
  if (list !== undefined) return list.items;
  const map = marking.maps.get(place);
  if (map !== undefined) return [map];
  return (marking.tokens.get(place) ?? []).map(({ value }) => value);
}
