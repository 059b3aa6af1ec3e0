import type { OutletValue } from './check-outputs.ts';
import { tokensIn } from '../journal/marking.ts';
import type { Marking } from '../journal/marking.ts';
import type { AnyPlace, Place } from '../language/place.ts';

/** Returns the values of a place's tokens, oldest first, with the type of the place. Former names count. */
export function valuesIn<T>(marking: Marking, place: Place<T>): readonly T[] {
  const current = tokensIn(marking, place.name);
  const tokens =
    place.formerNames.length === 0
      ? current
      : [...place.formerNames.flatMap((name) => tokensIn(marking, name)), ...current];
  return tokens.map((token) => asTyped<T>(token.value));
}

/** True if a place has a token. Former names count. */
export function isMarked(marking: Marking, place: AnyPlace): boolean {
  const { tokens } = marking;
  return tokens.has(place.name) || place.formerNames.some((name) => tokens.has(name));
}

/** Returns the value of an output if it left through `outlet`, with the type of the outlet. Undefined otherwise. */
export function outletValue<T>(outlet: Place<T>, output: OutletValue): T | undefined {
  return output.place === outlet.name ? asTyped<T>(output.value) : undefined;
}

/** Returns the values for `place` from the inputs of a fault or a firing, with the type of the place. */
export function inputValues<T>(
  inputs: Readonly<Record<string, readonly unknown[]>>,
  place: Place<T>,
): readonly T[] {
  return (inputs[place.name] ?? []).map((value) => asTyped<T>(value));
}

// The schema of the place validated the value when it was deposited, and it is frozen since.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the place's type
function asTyped<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked at deposit
  return value as T;
}
