import { deepFreeze, isJsonObject } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { parseRunningPlaceName, runningPlaceName } from '../language/place-identity.ts';
import type { Marking, Token } from './marking.ts';
import type { Due, TokenId } from './record.ts';

/**
 * Renames places in the tokens, the maps and the firings of a marking, or empties those that map to null. All moves
 * happen at once, so two places may swap. `applyToLists` renames list places.
 */
export function movePlaces(marking: Marking, moved: Readonly<Record<string, string | null>>): void {
  const to = (place: string): string => moved[place] ?? place;
  for (const firing of marking.firings.values()) {
    const target = moved[runningPlaceName(firing.t)];
    if (target === null) {
      marking.firings.delete(firing.id);
      continue;
    }
    const t = target === undefined ? firing.t : targetEffect(target);
    const { tokens, lists, maps, shared } = firing.reads;
    const reads = {
      tokens: renameKeys(tokens, to),
      lists: renameKeys(lists, to),
      maps: renameKeys(maps, to),
      shared,
    };
    marking.firings.set(firing.id, {
      ...firing,
      t,
      inputs: renameKeys(firing.inputs, to),
      reads,
    });
  }
  moveEntries(marking.tokens, moved, (held, added) => [...held, ...added]);
  moveEntries(marking.maps, moved);
  mapFaults(marking, (fault) => ({ ...fault, inputs: moveFaultInputs(fault, moved) }));
}

/** Replaces the faults in a marking, which contain the names of places and transitions. */
export function mapFaults(marking: Marking, to: (fault: JsonObject) => JsonObject): void {
  const mapToken = (token: Token): Token =>
    isJsonObject(token.value) ? { ...token, value: deepFreeze(to(token.value)) } : token;
  for (const { name } of [faultPlace, unhandledFaultPlace]) {
    const tokens = marking.tokens.get(name);
    if (tokens !== undefined) marking.tokens.set(name, tokens.map(mapToken));
    for (const firing of marking.firings.values()) {
      const taken = firing.inputs.get(name);
      if (taken === undefined) continue;
      const inputs = new Map([...firing.inputs, [name, taken.map(mapToken)] as const]);
      marking.firings.set(firing.id, { ...firing, inputs });
    }
  }
}

/** Returns the inputs of the failed firing that a fault holds, by place. */
export function faultInputs(fault: Json): JsonObject {
  const inputs = isJsonObject(fault) ? fault['inputs'] : undefined;
  return isJsonObject(inputs) ? inputs : {};
}

function moveFaultInputs(
  fault: JsonObject,
  moved: Readonly<Record<string, string | null>>,
): JsonObject {
  return Object.fromEntries(
    Object.entries(faultInputs(fault)).map(([place, values]) => [moved[place] ?? place, values]),
  );
}

/**
 * Moves the contents of places, or drops those of places that map to null. All moves happen at once.
 * @param merge joins a content with that which its target holds already. Default: the moved content replaces it.
 */
export function moveEntries<T>(
  contents: Map<string, T>,
  moved: Readonly<Record<string, string | null>>,
  merge: (held: T, added: T) => T = (_, added) => added,
): void {
  const taken = Object.keys(moved).map((place) => [place, takeOut(contents, place)] as const);
  for (const [place, added] of taken) {
    const target = moved[place];
    if (!target || added === undefined) continue;
    const held = contents.get(target);
    contents.set(target, held === undefined ? added : merge(held, added));
  }
}

function targetEffect(target: string): string {
  const effect = parseRunningPlaceName(target);
  if (effect !== undefined) return effect;
  throw new Error(`The journal moves firings to "${target}", which is not the place of an effect.`);
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
