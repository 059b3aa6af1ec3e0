import type { ExpandedInput, ExpandedTransition } from '../system/expand.ts';

/** Returns a transition that may only fail. Nothing has precedence over it, and nothing waits for it. */
export function createFailing(
  index: number,
  name: string,
  takes: readonly ExpandedInput[],
): ExpandedTransition {
  return {
    index,
    name,
    kind: 'pure',
    priority: Number.POSITIVE_INFINITY,
    isOptional: true,
    isImmediate: true,
    timed: 'no',
    concurrency: Number.POSITIVE_INFINITY,
    takes,
    reads: [],
    unless: [],
    resets: [],
    keyed: false,
    alternatives: [],
    running: -1,
    attempts: 1,
    remembered: [],
    keptColor: -1,
  };
}
