import { runningPlaceName } from '../language/transition.ts';
import { tokensIn } from './marking.ts';
import type { Marking } from './marking.ts';
import type { Due, TokenId } from './record.ts';

/**
 * Renames places in the whole marking, or empties those that map to null. All moves happen at once, so two places may
 * swap.
 */
export function movePlaces(marking: Marking, moved: Readonly<Record<string, string | null>>): void {
  const to = (place: string): string => moved[place] ?? place;
  for (const firing of marking.firings.values()) {
    const target = moved[runningPlaceName(firing.t)];
    if (target === null) {
      marking.firings.delete(firing.firing);
      continue;
    }
    const t = target === undefined ? firing.t : target.slice('running('.length, -1);
    const { tokens, lists, maps, shared } = firing.reads;
    const reads = {
      tokens: renameKeys(tokens, to),
      lists: renameKeys(lists, to),
      maps: renameKeys(maps, to),
      shared,
    };
    marking.firings.set(firing.firing, {
      ...firing,
      t,
      inputs: renameKeys(firing.inputs, to),
      reads,
    });
  }
  const places = Object.keys(moved);
  const tokens = places.map((place) => [place, takeOut(marking.tokens, place)] as const);
  const lists = places.map((place) => [place, takeOut(marking.lists, place)] as const);
  const maps = places.map((place) => [place, takeOut(marking.maps, place)] as const);
  for (const [place, held] of tokens) {
    const target = moved[place];
    if (target && held !== undefined)
      marking.tokens.set(target, [...tokensIn(marking, target), ...held]);
  }
  for (const [place, list] of lists) {
    const target = moved[place];
    if (target && list !== undefined) marking.lists.set(target, list);
  }
  for (const [place, map] of maps) {
    const target = moved[place];
    if (target && map !== undefined) marking.maps.set(target, map);
  }
}

function takeOut<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}

function renameKeys<T>(
  map: ReadonlyMap<string, T>,
  to: (place: string) => string,
): ReadonlyMap<string, T> {
  return new Map([...map].map(([place, value]) => [to(place), value]));
}

/** Adds clocks to tokens: those of transitions that an upgrade made timed. */
export function startClocks(marking: Marking, clocks: Readonly<Record<TokenId, Due>>): void {
  for (const [place, tokens] of marking.tokens) {
    if (!tokens.some((token) => token.id in clocks)) continue;
    const started = tokens.map((token) =>
      token.id in clocks ? { ...token, due: { ...token.due, ...clocks[token.id] } } : token,
    );
    marking.tokens.set(place, started);
  }
}
