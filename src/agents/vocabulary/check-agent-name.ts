import { describeValue } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';

/**
 * Checks the name of an agent: 1 to 64 letters, digits, `_` or `-`, not beginning with a digit or `-`, and not `user`.
 * @throws InvalidInputError
 */
export function checkAgentName(name: unknown): void {
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) && name !== 'user')
    return;
  throw new InvalidInputError(
    'name',
    `of an agent must be 1 to 64 letters, digits, _ or -, begin with a letter or _, and not be "user"; it is ${describeValue(name)}.`,
  );
}
