import type { OutletValue } from './gives.ts';
import { tokensIn } from './marking.ts';
import type { Marking } from './marking.ts';
import type { Place } from './place.ts';

/** The values of a place's tokens, oldest first, typed by the place. */
export function valuesIn<T>(marking: Marking, place: Place<T>): readonly T[] {
  return tokensIn(marking, place.name).map((token) => typed<T>(token.value));
}

/** The value an outlet gave, typed by the outlet; undefined when it is another outlet's. */
export function outletValue<T>(outlet: Place<T>, given: OutletValue): T | undefined {
  return given.place === outlet.name ? typed<T>(given.value) : undefined;
}

/** Values that a place of this name held, as a fault or a firing keeps them: by the place's name. */
export function heldValues<T>(
  held: Readonly<Record<string, readonly unknown[]>>,
  place: Place<T>,
): readonly T[] {
  return (held[place.name] ?? []).map((value) => typed<T>(value));
}

// The place's schema checked the value when it was deposited, and nothing changes it afterwards.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the place's type
function typed<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked at deposit
  return value as T;
}
