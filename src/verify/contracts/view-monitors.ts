import { listActivations, listQuietStates } from './child-activity.ts';
import type { View } from './view.ts';
import type { ViewMonitor, ViewStepFacts } from './view-search.ts';

/** A token leaves a place that a property names with `per`. */
export const RENEWS = 'renews';
const COST = 'cost ';
const GAIN = 'first ';
/** More events than this before the steps that need them are not told apart. */
const MOST_EVENTS = 8;

/** The name of a step that costs this much. */
export function nameCost(cost: number): string {
  return `${COST}${cost}`;
}

/** The name of a step that is so many of the events that must come first. */
export function nameEvents(count: number): string {
  return `${GAIN}${Math.min(count, MOST_EVENTS)}`;
}

function sumNamed(watched: readonly string[], prefix: string): number {
  return watched.reduce(
    (sum, name) => sum + (name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0),
    0,
  );
}

/** When a monitor of costs starts again: at a renewal, or when the component of the view is set to work. */
export interface CostQuestion {
  readonly max: number;
  readonly restarts: 'renewal' | 'activation';
  /** The positions of the places whose tokens renew the count, if the view has them. */
  readonly renewals: readonly number[];
}

/**
 * Adds the costs of steps. The steps inside a child are paid when the child is set to work: as much as they cost at most
 * until it is set to work again. When the count starts again, a child that is at work is paid again.
 */
export function createCostMonitor(
  { contracts }: View,
  { max, restarts, renewals }: CostQuestion,
): ViewMonitor {
  const children = contracts.flatMap(({ contract, activity }, index) =>
    activity === undefined
      ? []
      : [
          {
            index,
            cost: activity.cost,
            activations: listActivations(contract),
            quiet: listQuietStates(contract, activity),
            initial: contract.initial,
          },
        ],
  );
  const own = contracts.findIndex(({ checks }) => checks === 'component');
  const ownActivations = own < 0 ? [] : listActivations(contracts[own]?.contract ?? none);
  return {
    initial: children.reduce(
      (sum, { cost, quiet, initial }) => sum + (quiet.has(initial) ? 0 : cost),
      0,
    ),
    next: (memory, move, removed, { stateBefore, stateAfter }) => {
      const isNew =
        restarts === 'renewal'
          ? move.watched.includes(RENEWS) || renewals.some(removed)
          : move.events[own]?.some((event) => ownActivations.includes(event)) === true;
      let total = isNew ? 0 : memory;
      for (const { index, cost, activations, quiet } of children) {
        const isActivated = move.events[index]?.some((event) => activations.includes(event));
        const isAtWork = !quiet.has(stateBefore(index)) || !quiet.has(stateAfter(index));
        if (isActivated === true || (isNew && isAtWork)) total += cost;
      }
      total += sumNamed(move.watched, COST);
      return total > max ? -1 : total;
    },
  };
}

const none = { initial: '', events: [], steps: {} };

/** Counts the events that must come first. A count that is too low only makes the property harder to prove. */
export function createOrderMonitor(each: boolean, renewals: readonly number[]): ViewMonitor {
  return {
    initial: 0,
    next: (memory, { watched }, removed) => {
      const isNew = watched.includes(RENEWS) || renewals.some(removed);
      const before = isNew ? 0 : memory;
      const follows = watched.includes('then');
      if (follows && before === 0) return -1;
      const after = before + sumNamed(watched, GAIN);
      return each ? Math.min(MOST_EVENTS, after - (follows ? 1 : 0)) : Math.min(1, after);
    },
  };
}

/** Watches for a forbidden step after an event, until another event. */
export function createIntervalMonitor(initial: number): ViewMonitor {
  return {
    initial,
    next: (memory, { watched }) => {
      if (memory === 1 && watched.includes('forbidden')) return -1;
      if (watched.includes('begins')) return 1;
      return watched.includes('ends') ? 0 : memory;
    },
  };
}

/** Watches for a commit while places hold work that is older than a renewal. */
export function createStaleMonitor(work: readonly number[]): ViewMonitor {
  return {
    initial: 0,
    next: (memory, { watched }, _removed, { countAfter }: ViewStepFacts) => {
      if (memory === 1 && watched.includes('commits')) return -1;
      const isOld = memory === 1 || watched.includes(RENEWS);
      return isOld && work.some((place) => countAfter(place) > 0) ? 1 : 0;
    },
  };
}

/** Lets every step happen: for the states of contracts in which watched steps happen. */
export const noMonitor: ViewMonitor = { initial: 0, next: (memory) => memory };
