import type { TokenClasses } from '../system/token-classes.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import type { Property, QuiescentMarking } from '../properties/property.ts';
import type { State, StateView } from '../system/state.ts';
import { begins, PropertyNames } from './property-names.ts';

/** The memory after a step that violates the property. */
export const VIOLATED = -1;

/** A property prepared for the search. It observes each marking, and each step through a number that it remembers. */
export interface PropertyMonitor {
  readonly property: Property;
  /** The memory in the initial state. */
  readonly initial: number;
  /** Returns the memory after a step, or VIOLATED. Undefined for a property of markings only. */
  readonly next: ((memory: number, state: State, move: Move) => number) | undefined;
  /** True if this marking violates the property. */
  readonly isViolated: (view: StateView, memory: number, isStuck: boolean) => boolean;
  /** The outlets whose tokens the property counts. */
  readonly outlets: ReadonlySet<string>;
  /** For a property that forbids cycles: true while a question is open. */
  readonly isPending: ((memory: number) => boolean) | undefined;
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
  property: Property,
): PropertyMonitor {
  const names = new PropertyNames(net);
  const outlets: ReadonlySet<string> = new Set();
  const plain = { property, initial: 0, next: undefined, outlets, isPending: undefined };
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
      const { max } = property;
      return { ...plain, isViolated: (view) => sum(view, places) > max };
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
      const transitions = new Set(property.transitions.map(names.transition));
      const renews = toRenewal(property.per, names, tokenClasses);
      const { max } = property;
      return {
        ...plain,
        next: (memory, state, move) => {
          const before = renews(state, move) ? 0 : memory;
          if (!begins(move) || !transitions.has(move.t)) return before;
          return before >= max ? VIOLATED : before + 1;
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
      const transitions = new Set(property.transitions.map(names.transition));
      names.place(property.place);
      const gained = names.tokensGained(property.place, tokenClasses);
      const { until } = property;
      const ends = until === undefined ? () => 0 : names.event(until, tokenClasses);
      const initially = net.net.initial.some((one) => one.place.name === property.place);
      return {
        ...plain,
        outlets: new Set(until === undefined ? [] : [until]),
        initial: initially ? 1 : 0,
        next: (memory, _state, move) => {
          if (memory === 1 && begins(move) && transitions.has(move.t)) return VIOLATED;
          if (gained(move) > 0) return 1;
          return ends(move) > 0 ? 0 : memory;
        },
        isViolated: never,
      };
    }
    case 'joinedOrDeadLettered': {
      const from = names.place(property.from);
      const ends = [property.joined, ...property.deadLetters].map((name) =>
        names.tokensGained(name, tokenClasses),
      );
      const through = property.through.map(names.place);
      return {
        ...plain,
        initial: BALANCE_OFFSET,
        outlets: new Set([property.joined, ...property.deadLetters]),
        next: (memory, state, move) => {
          let after = memory;
          for (const position of move.removed)
            if (tokenClasses.get(state.tokens[position] ?? 0).place === from) after++;
          for (const gained of ends) after -= gained(move);
          return after < BALANCE_OFFSET ? VIOLATED : after;
        },
        isViolated: (view, memory, isStuck) =>
          isStuck && (memory > BALANCE_OFFSET || through.some((place) => view.count(place) > 0)),
      };
    }
    case 'eventuallyAnswered': {
      const asks = names.event(property.asked, tokenClasses);
      const answers = property.answered.map((name) => names.event(name, tokenClasses));
      const allowed = property.resting.map((one) => toMarkingCheck(one, names));
      return {
        ...plain,
        outlets: new Set([property.asked, ...property.answered]),
        next: (memory, _state, move) => {
          let after = memory + asks(move);
          for (const answered of answers) after -= answered(move);
          return Math.max(0, after);
        },
        isViolated: (view, memory, isStuck) =>
          isStuck && memory > 0 && !allowed.some((matches) => matches(view)),
        isPending: (memory) => memory > 0,
      };
    }
    default:
      return property satisfies never;
  }
}

function toRenewal(
  per: string | undefined,
  names: PropertyNames,
  tokenClasses: TokenClasses,
): (state: State, move: Move) => boolean {
  if (per === undefined) return never;
  const place = names.place(per);
  return ({ tokens }, { removed }) =>
    removed.some((position) => tokenClasses.get(tokens[position] ?? 0).place === place);
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
