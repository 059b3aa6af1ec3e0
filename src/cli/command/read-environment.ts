import type { CliContext } from './cli-context.ts';
import { UsageError } from './usage-error.ts';

const PREFIX = 'env:';

/**
 * The value of an option, which `env:NAME` takes from an environment variable: a password on a command line is visible
 * to every user of the machine.
 * @throws UsageError if the variable is not set or empty. It does not show an address that stands for the name, because
 *   that may have a password
 */
export function readEnvironment({
  command,
  option,
  value,
  env,
}: {
  readonly command: string;
  readonly option: string;
  readonly value: string;
  readonly env: CliContext['env'];
}): string {
  if (!value.startsWith(PREFIX)) return value;
  const name = value.slice(PREFIX.length);
  const found = env[name] ?? '';
  if (found !== '') return found;
  if (/[:/@]/u.test(name))
    throw new UsageError(
      `--${option} has an address after "${PREFIX}". Write the name of the environment variable that has the address, such as ${PREFIX}DATABASE_URL.`,
      command,
    );
  throw new UsageError(
    `--${option} is "${value}", and the environment variable ${name} is not set.`,
    command,
  );
}
