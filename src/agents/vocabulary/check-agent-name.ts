import { InvalidInputError } from '../../core/index.ts';

/**
 * Checks the name of an agent: 1 to 64 letters, digits, `_` or `-`, not beginning with a digit or `-`, and not `user`.
 * @throws InvalidInputError
 */
export function checkAgentName(name: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) && name !== 'user') return;
  throw new InvalidInputError(
    'name',
    `of an agent must be 1 to 64 letters, digits, _ or -, begin with a letter or _, and not be "user"; it is "${name}".`,
  );
}
