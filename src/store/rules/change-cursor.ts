import { InvalidInputError } from '../../core/index.ts';

/** @throws InvalidInputError */
export function checkChangeLimit(limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  throw new InvalidInputError('limit', `must be an integer of at least 1; it is ${limit}.`);
}
