import type { OutletValue } from './check-outputs.ts';
import { tokensIn } from '../journal/marking.ts';
import type { Marking } from '../journal/marking.ts';
import type { Place } from '../language/place.ts';

/** The values of a place's tokens, oldest first, typed by the place. */
export function valuesIn<T>(marking: Marking, place: Place<T>): readonly T[] {
  return tokensIn(marking, place.name).map((token) => asTyped<T>(token.value));
}

/** The value an outlet gave, typed by the outlet; undefined when it is another outlet's. */
export function outletValue<T>(outlet: Place<T>, output: OutletValue): T | undefined {
  return output.place === outlet.name ? asTyped<T>(output.value) : undefined;
}

/** Values that a place of this name held, as a fault or a firing keeps them: by the place's name. */
export function inputValues<T>(
  inputs: Readonly<Record<string, readonly unknown[]>>,
  place: Place<T>,
): readonly T[] {
  return (inputs[place.name] ?? []).map((value) => asTyped<T>(value));
}

// The place's schema checked the value when it was deposited, and nothing changes it afterwards.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the place's type
function asTyped<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked at deposit
  return value as T;
}
