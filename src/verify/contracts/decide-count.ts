import { listNames } from '../properties/name-list.ts';
import type { AtMost } from '../properties/property.ts';
import { findPlace, findTransition } from '../system/find-by-name.ts';
import { leaveOpen, toDecision } from './decision.ts';
import type { Decision } from './decision.ts';
import { decideCosts } from './decide-steps.ts';
import type { PartViews } from './part-views.ts';
import { isBudget } from './view.ts';
import type { ViewStep } from './view.ts';
import { takesFrom } from './view-events.ts';
import { RENEWS } from './view-monitors.ts';
import type { ViewMonitor } from './view-search.ts';

/** Decides whether transitions fire, or cost, at most so much: in the view of one part, then in those of several. */
export function decideAtMost(views: PartViews, property: AtMost): Decision {
  const decision = property.costs === undefined ? decideCount(views, property) : undefined;
  return decision?.holds === true ? decision : decideCosts(views, property);
}

/** Counts the firings in one view: of the budget from which they take, of a part with some of them, or of the core. */
function decideCount(views: PartViews, { transitions, max, per }: AtMost): Decision {
  const { net } = views;
  const counted = new Set(transitions.map((name) => findTransition(net, name)));
  const renewals = listNames(per).map((name) => findPlace(net, name));
  const candidates = views.parts.filter(
    (part) => part.own === undefined || [...counted].some((t) => part.transitions.has(t)),
  );
  const watch = (step: ViewStep): readonly string[] => [
    ...(step.begins && counted.has(step.t) ? ['counted'] : []),
    ...(renewals.some((place) => takesFrom(net, step, place)) ? [RENEWS] : []),
  ];
  const budgets = findBudgets(views, counted);
  let reason = '';
  for (const part of budgets.length > 0 ? [views.core, ...candidates] : candidates) {
    // First a view of the budget alone.
    const isFirst = reason === '' && budgets.length > 0;
    const kept = [...budgets, ...renewals];
    const view = isFirst
      ? views.viewPlaces(kept, budgets, watch)
      : views.view(part, { watch, apart: renewals });
    const restarts = renewals
      .map((place) => (isFirst ? kept.indexOf(place) : views.position(part, renewals, place)))
      .filter((position) => position >= 0);
    const { outcome, component } = views.search(
      part,
      view,
      JSON.stringify(['atMost', restarts, max]),
      { asked: restarts, monitor: createCountMonitor(max, restarts) },
    );
    if (outcome.problem === undefined) return toDecision(outcome, component === part.name);
    reason = outcome.problem;
  }
  return leaveOpen(reason);
}

function createCountMonitor(max: number, restarts: readonly number[]): ViewMonitor {
  return {
    initial: 0,
    next: (memory, { watched }, removed) => {
      // Tokens that leave a place outside the view by a reset are not seen: the count then goes on.
      const isNew = watched.includes(RENEWS) || restarts.some(removed);
      const before = isNew ? 0 : memory;
      if (!watched.includes('counted')) return before;
      return before >= max ? -1 : before + 1;
    },
  };
}

/** The budgets of which every firing of these transitions takes a token. */
function findBudgets(views: PartViews, transitions: ReadonlySet<number>): readonly number[] {
  const { net } = views;
  const all = [...transitions].map((t) => net.transitions[t]?.takes ?? []);
  return net.places.flatMap(({ index }) => {
    const isTaken = all.every((takes) =>
      takes.some(({ place, mode, count }) => place === index && mode !== 'all' && count > 0),
    );
    return isTaken && isBudget(net, index) && views.isLive(index) ? [index] : [];
  });
}
