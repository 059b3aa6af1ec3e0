import { InvalidInputError } from '../../core/index.ts';

/**
 * Checks a position in a log, a journal or an inbox, or a limit: an integer of at least 0.
 * @throws InvalidInputError with the name of the field
 */
export function parsePosition(value: number, field: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidInputError(field, `must be an integer of at least 0; it is ${value}.`);
}
