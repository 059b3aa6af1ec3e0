import type { TokenClasses } from '../system/token-classes.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import { listNames } from '../properties/name-list.ts';
import type { NameOrNames } from '../properties/name-list.ts';
import type { QuiescentMarking, SearchedProperty } from '../properties/property.ts';
import type { State, StateView } from '../system/state.ts';
import { begins, listTaken, PropertyNames } from './property-names.ts';

/** The memory after a step that violates the property. */
export const VIOLATED = -1;

/** A property prepared for the search. It observes each marking, and each step through a number that it remembers. */
export interface PropertyMonitor {
  readonly property: SearchedProperty;
  /** The memory in the initial state. */
  readonly initial: number;
  /** Returns the memory after a step, or VIOLATED. Undefined for a property of markings only. */
  readonly next: ((memory: number, state: State, move: Move) => number) | undefined;
  /** True if this marking violates the property. */
  readonly isViolated: (view: StateView, memory: number, isStuck: boolean) => boolean;
  /** The outlets whose tokens the property counts. */
  readonly outlets: ReadonlySet<string>;
  /** For a liveness property: true while a question is open. */
  readonly isPending: ((memory: number) => boolean) | undefined;
  /**
   * For a liveness property: true if a pending state may wait in this marking, provided that each step which stays
   * possible happens. Undefined if the property forbids every cycle of pending states.
   */
  readonly mayWait: ((view: StateView) => boolean) | undefined;
  /** For a property that transitions can fire: the transitions that some step must begin. */
  readonly witnesses: ReadonlySet<number> | undefined;
  /** True if steps that the executor never takes would make the property hold. Only an ordered search decides it. */
  readonly needsOrder: boolean;
}

const never = (): boolean => false;
/** A balance is stored with this offset, so that the memory is never negative. */
const BALANCE_OFFSET = 128;

/**
 * Creates the monitor of a property.
 * @throws UnknownNameError if the property names a place or transition that the net does not have.
 */
export function createMonitor(
  net: ExpandedNet,
  tokenClasses: TokenClasses,
  property: SearchedProperty,
): PropertyMonitor {
  const names = new PropertyNames(net);
  const outlets: ReadonlySet<string> = new Set();
  const plain = {
    property,
    initial: 0,
    next: undefined,
    outlets,
    isPending: undefined,
    mayWait: undefined,
    witnesses: undefined,
    needsOrder: false,
  };
  switch (property.kind) {
    case 'deadlockFree': {
      const allowed = property.resting.map((one) => toMarkingCheck(one, names));
      return {
        ...plain,
        isViolated: (view, _memory, isStuck) =>
          isStuck && !allowed.some((matches) => matches(view)),
      };
    }
    case 'placeBound': {
      const places = property.places.map(names.place);
      const { max, each } = property;
      return {
        ...plain,
        isViolated: (view) =>
          each === true ? places.some((place) => view.count(place) > max) : sum(view, places) > max,
      };
    }
    case 'mutualExclusion': {
      const places = property.places.map(names.place);
      return {
        ...plain,
        isViolated: (view) => places.filter((place) => view.count(place) > 0).length > 1,
      };
    }
    case 'unreachable': {
      const marked = Object.entries(property.marked).map(
        ([name, count]) => [names.place(name), count] as const,
      );
      const empty = property.empty.map(names.place);
      return {
        ...plain,
        isViolated: (view) =>
          marked.every(([place, count]) => view.count(place) >= count) &&
          empty.every((place) => view.count(place) === 0),
      };
    }
    case 'atMost': {
      const firings = property.transitions.map((name) => ({
        begun: names.firings([name], tokenClasses),
        cost: property.costs?.[name] ?? 1,
      }));
      const renews = toRenewal(property.per, names, tokenClasses);
      const { max } = property;
      return {
        ...plain,
        next: (memory, state, move) => {
          const before = renews(state, move) ? 0 : memory;
          let cost = 0;
          // With labels, a firing can have several names. It costs what the dearest one does.
          for (const one of firings)
            if (one.cost > cost && one.begun(move, state) >= 0) cost = one.cost;
          return cost > 0 && before + cost > max ? VIOLATED : before + cost;
        },
        isViolated: never,
      };
    }
    case 'givesAtMost': {
      const gained = names.tokensGained(property.place, tokenClasses);
      const renews = toRenewal(property.per, names, tokenClasses);
      const { max } = property;
      return {
        ...plain,
        outlets: new Set([property.place]),
        next: (memory, state, move) => {
          const after = (renews(state, move) ? 0 : memory) + gained(move);
          return after > max ? VIOLATED : after;
        },
        isViolated: never,
      };
    }
    case 'neverFiresAfter': {
      const begun = names.firings(property.transitions, tokenClasses);
      const { until, place } = property;
      const happens = names.event(place, tokenClasses);
      const ends = listNames(until).map((name) => names.event(name, tokenClasses));
      const initially = !names.isTransition(place) && names.isInitial(place);
      return {
        ...plain,
        outlets: new Set(listNames(until)),
        initial: initially ? 1 : 0,
        next: (memory, state, move) => {
          if (memory === 1 && begun(move, state) >= 0) return VIOLATED;
          if (happens(move, state) > 0) return 1;
          return ends.some((one) => one(move, state) > 0) ? 0 : memory;
        },
        isViolated: never,
      };
    }
    case 'precedes': {
      const happens = names.event(property.first, tokenClasses);
      const then = names.firings(property.transitions, tokenClasses);
      const renews = toRenewal(property.per, names, tokenClasses);
      const { each } = property;
      return {
        ...plain,
        outlets: new Set([property.first]),
        next: (memory, state, move) => {
          const before = renews(state, move) ? 0 : memory;
          const follows = then(move, state) >= 0;
          if (follows && before === 0) return VIOLATED;
          const after = before + happens(move, state);
          return each ? after - (follows ? 1 : 0) : Math.min(1, after);
        },
        isViolated: never,
      };
    }
    case 'neverStale': {
      const commits = new Set(property.commits.map(names.transition));
      const renewals = new Set(property.renewals.map(names.transition));
      const work = new Set(property.work.map(names.place));
      const isWork = (code: number | undefined): boolean =>
        code !== undefined && work.has(tokenClasses.get(code).place);
      return {
        ...plain,
        next: (memory, { tokens }, move) => {
          const completes = move.kind === 'fired' || move.kind === 'ended';
          if (memory === 1 && completes && commits.has(move.t)) return VIOLATED;
          // The next generation comes with the outputs, for an effect when it ends.
          const renewed = completes && renewals.has(move.t);
          if (memory === 0 && !renewed) return 0;
          const removed = new Set(move.removed);
          const isLeft =
            move.added.some(isWork) ||
            tokens.some((code, position) => !removed.has(position) && isWork(code));
          return isLeft ? 1 : 0;
        },
        isViolated: never,
      };
    }
    case 'neverTakes': {
      const by = new Set(property.by.map(names.transition));
      const places = new Set(property.places.map(names.place));
      return {
        ...plain,
        next: (_memory, { tokens }, move) => {
          const isTaken = (position: number): boolean =>
            places.has(tokenClasses.get(tokens[position] ?? 0).place);
          return begins(move) && by.has(move.t) && move.removed.some(isTaken) ? VIOLATED : 0;
        },
        isViolated: never,
      };
    }
    case 'joinedOrDeadLettered': {
      const from = names.place(property.from);
      const ends = [property.joined, ...property.deadLetters];
      const arrived = names.tokensGainedByAny(ends, tokenClasses);
      const through = property.through.map(names.place);
      return {
        ...plain,
        initial: BALANCE_OFFSET,
        outlets: new Set(ends),
        next: (memory, state, move) => {
          let after = memory - arrived(move);
          for (const position of listTaken(move))
            if (tokenClasses.get(state.tokens[position] ?? 0).place === from) after++;
          return after < BALANCE_OFFSET ? VIOLATED : after;
        },
        isViolated: (view, memory, isStuck) =>
          isStuck && (memory > BALANCE_OFFSET || through.some((place) => view.count(place) > 0)),
      };
    }
    case 'eventuallyAnswered': {
      const asks = names.event(property.asked, tokenClasses);
      const answers = names.events(property.answered, tokenClasses);
      const allowed = property.resting.map((one) => toMarkingCheck(one, names));
      return {
        ...plain,
        outlets: new Set([property.asked, ...property.answered]),
        next: (memory, state, move) =>
          Math.max(0, memory + asks(move, state) - answers(move, state)),
        isViolated: (view, memory, isStuck) =>
          isStuck && memory > 0 && !allowed.some((matches) => matches(view)),
        isPending: (memory) => memory > 0,
      };
    }
    case 'eventually': {
      const { after } = property;
      const asks = after === undefined ? () => 0 : names.event(after, tokenClasses);
      const events = property.events.map((name) => names.event(name, tokenClasses));
      const allowed = property.resting.map((one) => toMarkingCheck(one, names));
      const mayWait = (view: StateView): boolean => allowed.some((matches) => matches(view));
      return {
        ...plain,
        initial: after === undefined ? 1 : 0,
        outlets: new Set([...property.events, ...(after === undefined ? [] : [after])]),
        next: (memory, state, move) => {
          if (events.some((happens) => happens(move, state) > 0)) return 0;
          return asks(move, state) > 0 ? 1 : memory;
        },
        isViolated: (view, memory, isStuck) => isStuck && memory > 0 && !mayWait(view),
        isPending: (memory) => memory > 0,
        mayWait,
        needsOrder: true,
      };
    }
    case 'canFire':
      return {
        ...plain,
        isViolated: never,
        witnesses: new Set(property.transitions.map(names.transition)),
        needsOrder: true,
      };
    case 'settles':
      // `findLivelock` decides it. No marking and no single step violates it.
      return { ...plain, isViolated: never };
    default:
      return property satisfies never;
  }
}

function toRenewal(
  per: NameOrNames | undefined,
  names: PropertyNames,
  tokenClasses: TokenClasses,
): (state: State, move: Move) => boolean {
  if (per === undefined) return never;
  const places = new Set(listNames(per).map(names.place));
  return ({ tokens }, move) =>
    listTaken(move).some((position) => places.has(tokenClasses.get(tokens[position] ?? 0).place));
}

function toMarkingCheck(
  { marked, allowed = [] }: QuiescentMarking,
  names: PropertyNames,
): (view: StateView) => boolean {
  const needed = marked.map(names.place);
  const may = new Set([...needed, ...allowed.map(names.place)]);
  return (view) =>
    needed.every((place) => view.count(place) > 0) &&
    view.counts.every((count, place) => count === 0 || may.has(place));
}

function sum(view: StateView, places: readonly number[]): number {
  let total = 0;
  for (const place of places) total += view.count(place);
  return total;
}
