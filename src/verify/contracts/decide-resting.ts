import type { QuiescentMarking } from '../properties/property.ts';
import { findPlace } from '../system/find-by-name.ts';
import { combineParts, MAX_COLLECTED, readShared } from './combine-parts.ts';
import { leaveOpen } from './decision.ts';
import type { Decision } from './decision.ts';
import type { PartViews } from './part-views.ts';
import type { NetPart } from './net-parts.ts';
import type { ViewOutcome, ViewState } from './view-search.ts';

/** By part: the search of its contract, which has collected the states in which the part may have stopped. */
type Stops = ReadonlyMap<NetPart, ViewOutcome>;

/** Decides whether the net stops only in one of these markings: by the states in which each part may have stopped. */
export function decideResting(
  views: PartViews,
  stops: Stops,
  markings: readonly QuiescentMarking[],
): Decision {
  const resting = expandResting(views, stops, dropStatesThatRun(views, stops));
  if (resting === undefined)
    return leaveOpen(`a component has more than ${MAX_COLLECTED} states in which it may stop`);
  const named = markings.map(({ marked, allowed = [] }) => ({
    marked: marked.map((name) => findPlace(views.net, name)),
    may: new Set([...marked, ...allowed].map((name) => findPlace(views.net, name))),
  }));
  const possible = named.map(({ marked }) =>
    marked.every((place) => views.isLive(place) && !views.leftOut.has(place)),
  );
  const combined = combineParts(views, (part) => {
    const layout = views.layout(part);
    return (resting.get(part) ?? []).map((state) => ({
      state,
      layout,
      answers: toBits(
        named.map(
          ({ marked, may }, index) =>
            possible[index] === true &&
            layout.members.every((places, position) => {
              const isMarked = (state.counts[position] ?? 0) > 0;
              // Which places of a marked group are marked is not known.
              if (isMarked && places.length === 1) return places.every((place) => may.has(place));
              return places.every(
                (place) => !marked.includes(place) && (!isMarked || may.has(place)),
              );
            }),
        ),
      ),
    }));
  });
  return combined.includes(0n)
    ? leaveOpen('by their contracts, the components may stop together where the net may not rest')
    : { holds: true, states: 0 };
}

/**
 * Returns the states in which each part may have stopped, without those in which a child of it has not. Undefined if
 * there are too many.
 */
function expandResting(
  views: PartViews,
  stops: Stops,
  resting: ReadonlyMap<NetPart, readonly ViewState[]>,
): ReadonlyMap<NetPart, readonly ViewState[]> | undefined {
  const toKey = (shared: string, own: string): string => JSON.stringify([shared, own]);
  const stopped = new Map<NetPart, ReadonlySet<string>>();
  const expanded = new Map<NetPart, readonly ViewState[]>();
  // Children come before their parents.
  for (const part of views.parts) {
    const offset = part.own === undefined ? 0 : 1;
    const layout = views.layout(part);
    const below = part.children.map((child) => stopped.get(child));
    const all: ViewState[] = [];
    for (const state of resting.get(part) ?? []) {
      const shared = readShared(views, layout, state);
      const allows = (contract: number, own: string): boolean =>
        contract < offset || below[contract - offset]?.has(toKey(shared, own)) === true;
      const most = MAX_COLLECTED - all.length;
      const states = stops.get(part)?.symmetry.expand(state, most, allows);
      if (states === undefined) return undefined;
      for (const one of states) all.push(one);
    }
    const keys = all.map((state) =>
      toKey(readShared(views, layout, state), state.contracts[0] ?? ''),
    );
    stopped.set(part, new Set(keys));
    expanded.set(part, all);
  }
  return expanded;
}

/**
 * Removes the states in which a part cannot have stopped, because places of other parts that inhibit it are empty
 * whenever the net has stopped. Each round uses only what earlier rounds have shown.
 */
function dropStatesThatRun(
  views: PartViews,
  stops: Stops,
): ReadonlyMap<NetPart, readonly ViewState[]> {
  const left = new Map([...stops].map(([part, { collected }]) => [part, collected] as const));
  for (let removed = true; removed;) {
    removed = false;
    const empty = new Set([
      ...views.leftOut,
      ...views.parts.flatMap((part) =>
        views.layout(part).members.flatMap((places, position) => {
          const images = stops.get(part)?.symmetry.images(position) ?? [position];
          const isEmpty = (left.get(part) ?? []).every(({ counts }) =>
            images.every((image) => counts[image] === 0),
          );
          return isEmpty ? places : [];
        }),
      ),
    ]);
    for (const part of views.parts) {
      const { outside } = views.view(part);
      const before = left.get(part) ?? [];
      const after = before.filter(
        ({ unlessMarked }) =>
          !unlessMarked.some((places) =>
            places.every((position) => empty.has(outside[position] ?? -1)),
          ),
      );
      if (after.length < before.length) removed = true;
      left.set(part, after);
    }
  }
  return left;
}

function toBits(answers: readonly boolean[]): bigint {
  return answers.reduce((bits, one, index) => (one ? bits | (1n << BigInt(index)) : bits), 0n);
}
