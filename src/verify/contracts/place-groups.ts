import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import type { LiveParts } from './live-parts.ts';

/**
 * Returns those of some places that a view may count together, as groups of two or more: the same transitions test them
 * for emptiness, reset them and take all of their tokens. So a group is empty when they find it empty, and they empty it.
 * The transitions that take single tokens of these places may differ.
 */
export function groupPlaces(
  net: ExpandedNet,
  { transitions: live }: LiveParts,
  places: readonly number[],
): readonly (readonly number[])[] {
  const environment = new Set(net.environment.map(({ place }) => place));
  const transitions = net.transitions.filter(({ index }) => live.has(index));
  const groups = new Map<string, number[]>();
  for (const place of places) {
    if (environment.has(place) || place === net.fault || place === net.unhandledFault) continue;
    if (!transitions.every((t) => canGroup(t, place))) continue;
    const tests = transitions.flatMap(({ index, unless, resets, takes }) => {
      const takesAll = takes.some((input) => input.place === place && input.mode === 'all');
      return [
        ...(unless.includes(place) ? [`${index} tests`] : []),
        ...(resets.includes(place) ? [`${index} resets`] : []),
        ...(takesAll ? [`${index} takes`] : []),
      ];
    });
    const key = tests.join();
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}

/** False if the transition needs to know more of the place than whether it has tokens. */
function canGroup(
  { takes, reads, running, concurrency, alternatives, timed }: ExpandedTransition,
  place: number,
): boolean {
  const isPlain = takes.every((input, index) => {
    if (input.place !== place || input.mode !== 'all') return true;
    const isCopied = alternatives.some(({ outputs }) => outputs.some(({ each }) => each === index));
    return input.slot < 0 && input.count === 0 && !isCopied && !(index === 0 && timed !== 'no');
  });
  return (
    isPlain &&
    reads.every((read) => read.place !== place) &&
    (running !== place || !Number.isFinite(concurrency))
  );
}
