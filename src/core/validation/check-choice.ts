import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { describeValue } from './describe-value.ts';

/**
 * Checks an option that is one of a few words. Undefined is allowed: it stands for the default.
 * @throws InvalidInputError with the name of the field
 */
export function checkChoice(field: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.some((choice) => choice === value)) return;
  throw new InvalidInputError(
    field,
    `must be one of ${choices.join(', ')}; it is ${describeValue(value)}.`,
  );
}
