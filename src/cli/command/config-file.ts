import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { decodeJson } from '../../core/index.ts';
import { isPetrichorError } from '../../core/internal.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { Option, Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** Options that only make sense on a command line. */
const NOT_IN_A_FILE: ReadonlySet<string> = new Set(['config', 'json', 'debug', 'help']);
/** Names of values in the help that are whole numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['N', 'BYTES']);

/** Undefined: the file does not have the field. */
type ConfigValue = boolean | number | string | readonly string[] | undefined;

/**
 * Puts the options of the file that `--config` names before those of the command line, which therefore win. A list has
 * the values of both.
 * @throws UsageError if the file cannot be read, is no JSON object, or has a field that is unknown or has the wrong type
 */
export function expandConfigFile({
  command,
  args,
  cwd,
  options,
}: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly options: Options;
}): readonly string[] {
  const { values } = parseArgs({ args: [...args], options, strict: false });
  const { config: file } = values;
  if (typeof file !== 'string') return args;
  const config = readConfigFile(command, resolve(cwd, file), file, options);
  return [...Object.entries(config).flatMap(toArgs), ...args];
}

function readConfigFile(
  command: string,
  path: string,
  file: string,
  options: Options,
): Readonly<Record<string, ConfigValue>> {
  try {
    const { $schema: _, ...config } = parseJsonWithSchema(
      configSchema(options),
      decodeJson(readFileSync(path, 'utf8'), file),
      file,
    );
    return config;
  } catch (error) {
    if (!isPetrichorError(error) && !isSystemError(error)) throw error;
    throw new UsageError(`--config: ${error.message}`, command);
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** The schema of a configuration file: its fields have the names of the options. */
export function configSchema(
  options: Options,
): v.GenericSchema<unknown, Readonly<Record<string, ConfigValue>>> {
  const fields = Object.entries(options)
    .filter(([name]) => !NOT_IN_A_FILE.has(name))
    .map(([name, option]) => [name, v.optional(described(option))] as const);
  return v.strictObject({ $schema: v.optional(v.string()), ...Object.fromEntries(fields) });
}

function described(option: Option): v.GenericSchema<unknown, ConfigValue> {
  return v.pipe(valueSchema(option), v.description(option.summary));
}

/** Its messages do not show the value, which may be a secret in a wrong place. */
function valueSchema(option: Option): v.GenericSchema<unknown, ConfigValue> {
  if (option.type === 'boolean') return v.boolean('must be true or false');
  const text = v.string('must be a text');
  if ('multiple' in option) return v.array(text, 'must be a list of texts');
  return NUMBERS.has(option.value)
    ? v.pipe(v.number('must be a number'), v.integer('must be an integer'))
    : text;
}

/** Options as they would be on a command line. */
function toArgs([name, value]: readonly [string, ConfigValue]): readonly string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [`--${name}`];
  // With an equals sign a value may begin with a dash.
  return [value].flat().map((one) => `--${name}=${String(one)}`);
}
