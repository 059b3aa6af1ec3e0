import { listNames } from '../properties/name-list.ts';
import type { NameOrNames } from '../properties/name-list.ts';
import type { AtMost, NeverFiresAfter, NeverStale, Precedes } from '../properties/property.ts';
import { findEvent, findPlace, findTransition } from '../system/find-by-name.ts';
import { decideAll, leaveOpen } from './decision.ts';
import type { Decision } from './decision.ts';
import type { PartViews } from './part-views.ts';
import type { NetPart } from './net-parts.ts';
import { answerInPart, decideSteps } from './step-question.ts';
import type { View, ViewStep } from './view.ts';
import {
  countEvents,
  isRunningPlace,
  isUncounted,
  listPlace as list,
  mayRemove,
  takesFrom,
} from './view-events.ts';
import {
  createCostMonitor,
  createIntervalMonitor,
  createOrderMonitor,
  createStaleMonitor,
  nameCost,
  nameEvents,
  noMonitor,
  RENEWS,
} from './view-monitors.ts';

const NO_ATTEMPTS = 'contracts do not see the attempts of an effect';
const NO_OUTLETS = 'contracts do not see outlets, lists and maps';

/** Decides whether transitions never start after an event: for the transitions of each part alone. */
export function decideNeverAfter(
  views: PartViews,
  { transitions, place, until }: NeverFiresAfter,
): Decision {
  const indexes = transitions.map((name) => findTransition(views.net, name));
  return decideAll(
    views.parts.flatMap((part) => {
      const own = indexes.filter((t) => part.transitions.has(t));
      return own.length === 0 ? [] : [() => decideNeverStarts(views, new Set(own), place, until)];
    }),
  );
}

function decideNeverStarts(
  views: PartViews,
  counted: ReadonlySet<number>,
  place: string,
  until: NameOrNames | undefined,
): Decision {
  const { net } = views;
  if ([place, ...listNames(until)].some((name) => isUncounted(net, name)))
    return leaveOpen(NO_OUTLETS);
  const begin = findEvent(net, place);
  // A retry puts the token of a running place there again, and views do not count attempts.
  if (isRunningPlace(net, begin.place)) return leaveOpen(NO_ATTEMPTS);
  const ends = listNames(until).map((name) => findEvent(net, name));
  const isInitial = net.net.initial.some((one) => one.place.name === place);
  const initially = begin.place !== undefined && isInitial ? 1 : 0;
  return decideSteps(views, {
    about: ['neverAfter', initially],
    counted,
    watch: (_part, step) => [
      ...(step.begins && counted.has(step.t) ? ['forbidden'] : []),
      ...(countEvents(begin, step) > 0 ? ['begins'] : []),
      ...(ends.some((end) => countEvents(end, step) > 0) ? ['ends'] : []),
    ],
    tracked: [begin, ...ends].flatMap((event) => event.place ?? []),
    apart: [],
    answers: () => createIntervalMonitor(initially),
    below: () => noMonitor,
  });
}

/** Decides whether transitions never fire before an event. */
export function decidePrecedes(
  views: PartViews,
  { first, transitions, each, per }: Precedes,
): Decision {
  const { net } = views;
  if ([first, ...listNames(per)].some((name) => isUncounted(net, name)))
    return leaveOpen(NO_OUTLETS);
  const then = new Set(transitions.map((name) => findTransition(net, name)));
  const event = findEvent(net, first);
  if (isRunningPlace(net, event.place)) return leaveOpen(NO_ATTEMPTS);
  const renewals = listNames(per).map((name) => findPlace(net, name));
  return decideSteps(views, {
    about: ['precedes', each],
    counted: then,
    first: event.transition,
    watch: (part, step) => {
      const count = countEvents(event, step);
      // A renewal that does not happen only makes the property harder to prove.
      const kept = views.kept(part);
      const mayRenew = renewals.some(
        (place) => !kept.includes(place) && mayRemove(net, step.t, place),
      );
      return [
        ...(step.begins && then.has(step.t) ? ['then'] : []),
        ...(count > 0 ? [nameEvents(count)] : []),
        ...(mayRenew ? [RENEWS] : []),
      ];
    },
    tracked: list(event.place),
    apart: renewals,
    answers: (part) => createOrderMonitor(each, findPositions(views, part, renewals)),
    below: () => noMonitor,
  });
}

/** The positions of places that a question keeps apart, in the view of a part that has them. */
function findPositions(
  views: PartViews,
  part: NetPart,
  places: readonly number[],
): readonly number[] {
  const positions = places.map((place) => views.position(part, places, place));
  return positions.filter((position) => position >= 0);
}

/** Decides whether no commit is older than a renewal: in a view that has all places of its work. */
export function decideNeverStale(
  views: PartViews,
  { commits, renewals, work }: NeverStale,
): Decision {
  const { net } = views;
  const committing = new Set(commits.map((name) => findTransition(net, name)));
  const renewing = new Set(renewals.map((name) => findTransition(net, name)));
  const places = work.map((name) => findPlace(net, name)).filter((place) => views.isLive(place));
  const completes = ({ t, begins, ends }: ViewStep): boolean =>
    ends || (begins && net.transitions[t]?.kind === 'pure');
  const part = views.findPartWith(places);
  if (part === undefined) return leaveOpen('its work belongs to several components');
  return answerInPart(views, part, {
    about: ['neverStale'],
    counted: new Set(),
    watch: (_part, step) => [
      ...(completes(step) && committing.has(step.t) ? ['commits'] : []),
      ...(completes(step) && renewing.has(step.t) ? [RENEWS] : []),
    ],
    apart: places,
    answers: () => createStaleMonitor(places.map((place) => views.position(part, places, place))),
    below: () => noMonitor,
  });
}

/**
 * Adds the costs of transitions of several components: the steps inside a child cost, each time that it is set to work,
 * at most what its own view shows.
 */
export function decideCosts(views: PartViews, { transitions, max, per, costs }: AtMost): Decision {
  const { net } = views;
  const byTransition = new Map(
    transitions.map((name) => [findTransition(net, name), costs?.[name] ?? 1]),
  );
  const counted = new Set(byTransition.keys());
  if (listNames(per).some((name) => isUncounted(net, name)))
    return leaveOpen('contracts do not see lists and maps');
  const renewals = listNames(per).map((name) => findPlace(net, name));
  const question = (restarts: 'renewal' | 'activation') => (part: NetPart, view: View) =>
    createCostMonitor(view, {
      max,
      restarts,
      renewals: findPositions(views, part, renewals),
    });
  return decideSteps(views, {
    about: ['costs', max],
    counted,
    watch: (part, step) => [
      ...(step.begins && part.transitions.has(step.t) && counted.has(step.t)
        ? [nameCost(byTransition.get(step.t) ?? 1)]
        : []),
      ...(renewals.some((place) => takesFrom(net, step, place)) ? [RENEWS] : []),
    ],
    apart: renewals,
    answers: question('renewal'),
    below: question('activation'),
  });
}
