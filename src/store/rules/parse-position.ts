import { InvalidInputError } from '../../core/errors/invalid-input-error.ts';

/**
 * Reads a place in a log, a journal or an inbox, or how many are wanted: a whole number of at least 0.
 * @throws InvalidInputError naming the field.
 */
export function parsePosition(value: number, field: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidInputError(field, 'must be a whole number of at least 0.');
}
