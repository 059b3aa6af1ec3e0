import { findPlace, findTransition } from '../system/find-by-name.ts';
import { decideAll, leaveOpen, toDecision } from './decision.ts';
import type { Decision } from './decision.ts';
import type { PartViews } from './part-views.ts';
import type { NetPart } from './net-parts.ts';

/** Decides whether these transitions never fire with a token of these places: in the view of each part with some of them. */
export function decideNeverTakes(
  views: PartViews,
  transitions: readonly string[],
  places: readonly string[],
): Decision {
  const indexes = transitions.map((name) => findTransition(views.net, name));
  return decideAll(
    views.parts.flatMap((part) => {
      const own = indexes.filter((t) => part.transitions.has(t));
      return own.length === 0 ? [] : [() => decideInPart(views, part, new Set(own), places)];
    }),
  );
}

function decideInPart(
  views: PartViews,
  part: NetPart,
  watched: ReadonlySet<number>,
  places: readonly string[],
): Decision {
  const kept = views.kept(part);
  const indexes = places
    .map((name) => findPlace(views.net, name))
    .filter((place) => views.isLive(place));
  if (!indexes.every((place) => kept.includes(place)))
    return leaveOpen('its transitions and places belong to several components');
  return decideAll(
    splitAsked(views, part, indexes).map((apart) => () => {
      const view = views.view(part, {
        watch: ({ t, begins }) => (begins && watched.has(t) ? ['forbidden'] : []),
        apart,
      });
      const positions = indexes
        .filter((place) => apart.includes(place))
        .map((place) => views.position(part, apart, place));
      const about = JSON.stringify(['neverTakes', positions]);
      const { outcome, component } = views.search(part, view, about, {
        asked: positions,
        monitor: {
          initial: 0,
          next: (memory, { watched: seen }, removed) =>
            seen.includes('forbidden') && positions.some(removed) ? -1 : memory,
        },
      });
      return toDecision(outcome, component === part.name);
    }),
  );
}

/** The places that one search counts place by place. With groups: only those that are taken together, such as a join's. */
function splitAsked(
  views: PartViews,
  part: NetPart,
  places: readonly number[],
): readonly (readonly number[])[] {
  if (!views.grouped.has(part)) return [places];
  const sets = places.map((place) => addTakenTogether(views, part, [place]));
  return [...new Map(sets.map((set) => [set.join(), set])).values()];
}

/** Adds the places of a part of which a firing takes tokens together with those of these places. */
function addTakenTogether(
  views: PartViews,
  part: NetPart,
  places: readonly number[],
): readonly number[] {
  const together = views.net.transitions.flatMap(({ takes }) => {
    const single = takes.flatMap(({ mode, place }) => (mode === 'all' ? [] : [place]));
    return places.some((place) => single.includes(place)) ? single : [];
  });
  return views.kept(part).filter((place) => together.includes(place) || places.includes(place));
}
