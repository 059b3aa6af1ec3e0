import type { ViewOutcome } from './view-search.ts';

/** The result for a property: `states` is the number of states visited for it alone. */
export type Decision =
  | { readonly holds: true; readonly states: number }
  | { readonly holds: false; readonly reason: string };

/** The decision that a property does not follow from the contracts. It may hold all the same. */
export function leaveOpen(reason: string): Decision {
  return { holds: false, reason };
}

/** The decision that the search of a view makes. The states of an earlier search are not counted again. */
export function toDecision({ problem, states }: ViewOutcome, isNew: boolean): Decision {
  return problem === undefined ? { holds: true, states: isNew ? states : 0 } : leaveOpen(problem);
}

/** Decides one question after the other, up to the first that stays open. */
export function decideAll(questions: readonly (() => Decision)[]): Decision {
  let states = 0;
  for (const decide of questions) {
    const decision = decide();
    if (!decision.holds) return decision;
    states += decision.states;
  }
  return { holds: true, states };
}
