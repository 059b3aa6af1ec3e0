import { combineStates } from './combine-states.ts';
import type { StateTree } from './combine-states.ts';
import type { Layout, PartViews } from './part-views.ts';
import type { NetPart } from './net-parts.ts';
import type { ViewState } from './view-search.ts';

/** More states of one component are not combined with those of others. */
export const MAX_COLLECTED = 200_000;
/** Counts are compared between views up to this number, which then means this many or more. */
const MOST_COMPARED = 2;

/** A state of the view of a part, and the answers that it allows, as bits. */
export interface PartState {
  readonly state: ViewState;
  readonly layout: Layout;
  readonly answers: bigint;
}

/** Returns the answers that some combination of states allows, one state of each part. Empty if none fit together. */
export function combineParts(
  views: PartViews,
  listStates: (part: NetPart) => readonly PartState[],
): readonly bigint[] {
  const toTree = (part: NetPart): StateTree => {
    const offset = part.own === undefined ? 0 : 1;
    return {
      states: listStates(part).map(({ state, layout, answers }) => ({
        shared: readShared(views, layout, state),
        own: offset === 0 ? '' : (state.contracts[0] ?? ''),
        children: state.contracts.slice(offset),
        answers,
      })),
      children: part.children.map(toTree),
    };
  };
  return combineStates(toTree(views.core));
}

/** What all views see of a state, as text. */
export function readShared(
  { shared }: PartViews,
  { positions }: Layout,
  { counts }: ViewState,
): string {
  return shared
    .flatMap((place) => positions.get(place) ?? [])
    .map((position) => Math.min(MOST_COMPARED, counts[position] ?? 0))
    .join();
}
