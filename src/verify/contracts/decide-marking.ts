import { findPlace } from '../system/find-by-name.ts';
import { combineParts, MAX_COLLECTED } from './combine-parts.ts';
import { decideAll, leaveOpen, toDecision } from './decision.ts';
import type { Decision } from './decision.ts';
import type { PartViews } from './part-views.ts';

/** Decides whether at most one of these places is marked. */
export function decideMutualExclusion(views: PartViews, places: readonly string[]): Decision {
  return decideAll(
    places.flatMap((one, index) =>
      places
        .slice(index + 1)
        .map((other) => () => decideUnreachable(views, { [one]: 1, [other]: 1 }, [])),
    ),
  );
}

/** Decides whether no reachable marking has these counts: by the states of each part that agree with them. */
export function decideUnreachable(
  views: PartViews,
  marked: Readonly<Record<string, number>>,
  empty: readonly string[],
): Decision {
  const needed = new Map(
    Object.entries(marked).map(([name, count]) => [findPlace(views.net, name), count]),
  );
  const without = new Set(empty.map((name) => findPlace(views.net, name)));
  if ([...needed].some(([place, count]) => count > 0 && !views.isLive(place)))
    return { holds: true, states: 0 };
  let states = 0;
  let problem: string | undefined;
  const combined = combineParts(views, (part) => {
    if (problem !== undefined) return [];
    const isAsked = (place: number): boolean => (needed.get(place) ?? 0) > 0 || without.has(place);
    const apart = views.kept(part).filter(isAsked);
    const layout = views.layout(part, apart);
    const view = views.view(part, { apart });
    const fits = (count: (position: number) => number): boolean =>
      layout.members.every(([place = -1], position) => {
        const tokens = count(position);
        return (
          tokens >= Math.min(needed.get(place) ?? 0, view.caps[position] ?? 1) &&
          !(without.has(place) && tokens > 0)
        );
      });
    const about = JSON.stringify([
      'marking',
      layout.members.map(([place = -1]) => [needed.get(place) ?? 0, without.has(place)]),
    ]);
    const { outcome, component } = views.search(part, view, about, {
      collects: fits,
      asked: layout.members.flatMap(([place = -1], position) => (isAsked(place) ? [position] : [])),
    });
    problem ??= outcome.problem;
    if (component === part.name) states += outcome.states;
    return outcome.collected.flatMap((one) => {
      const all = outcome.symmetry.expand(one, MAX_COLLECTED);
      if (all === undefined) problem ??= `more than ${MAX_COLLECTED} states to combine`;
      return (all ?? []).map((state) => ({ state, layout, answers: 0n }));
    });
  });
  if (problem !== undefined) return leaveOpen(problem);
  return combined.length === 0
    ? { holds: true, states }
    : leaveOpen('by their contracts, the components may reach such a marking together');
}

/** Decides whether these places together never hold more tokens: in a view that has all of them. */
export function decideBound(views: PartViews, places: readonly string[], max: number): Decision {
  const indexes = places
    .map((name) => findPlace(views.net, name))
    .filter((place) => views.isLive(place));
  const part = views.findPartWith(indexes);
  if (part === undefined)
    return leaveOpen(
      'its places belong to several components; only a search of the whole net adds them',
    );
  const view = views.view(part, { counted: new Set(indexes), apart: indexes });
  const positions = indexes.map((place) => views.position(part, indexes, place));
  const about = JSON.stringify(['bound', positions, max]);
  const { outcome, component } = views.search(part, view, about, {
    asked: positions,
    isViolated: (count) => {
      const counts = positions.map(count);
      return (
        counts.some((one, index) => one >= (view.caps[positions[index] ?? 0] ?? 1)) ||
        counts.reduce((all, one) => all + one, 0) > max
      );
    },
  });
  return toDecision(outcome, component === part.name);
}
