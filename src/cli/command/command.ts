import { parseArgs } from 'node:util';
import type { CliContext } from './cli-context.ts';
import type { ListOption, Option, Options, Switch } from './options.ts';
import { readEnvironment } from './read-environment.ts';
import type { ExitCode } from './exit-code.ts';
import { UsageError } from './usage-error.ts';

/** The parsed options. A missing switch is false; a missing list is empty. */
export type OptionValues<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Switch
    ? boolean
    : O[Name] extends ListOption
      ? readonly string[]
      : string | undefined;
};

/** The options of every command. */
export interface CommonOptions extends Options {
  readonly json: Switch;
  readonly debug: Switch;
  readonly help: Switch;
}

const commonOptions: CommonOptions = {
  json: { type: 'boolean', summary: 'Write one JSON object per line, for programs' },
  debug: { type: 'boolean', summary: 'Show the stack of an error' },
  help: { type: 'boolean', summary: 'Show this page' },
};

/** One command of the program: plain data and a function that runs with any streams. */
export interface Command {
  readonly name: string;
  /** The command line after the program's name, with placeholders in capitals. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** The text of the command's help page. */
  readonly description: string;
  readonly options: Options;
  /**
   * Runs the command.
   * @throws UsageError for an invalid command line, and the errors of the command
   */
  readonly run: (context: CliContext) => Promise<ExitCode>;
}

/** What a command's own code receives: the context and the parsed command line. */
export interface CommandCall<O extends Options> extends CliContext {
  readonly values: OptionValues<O & CommonOptions>;
  /** The options as they were written: `env:NAME` where `values` has what the variable has. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
}

export interface CommandDefinition<O extends Options> {
  readonly name: string;
  /** The names of the positional arguments, in the help. Those in brackets are optional. */
  readonly operands: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly options: O;
  readonly run: (call: CommandCall<O>) => Promise<ExitCode>;
}

/** Creates a command that parses its arguments before `run`. */
export function defineCommand<const O extends Options>(definition: CommandDefinition<O>): Command {
  const { name, operands, summary, description, run } = definition;
  const options = { ...definition.options, ...commonOptions };
  return {
    name,
    usage: [name, ...operands, ...Object.entries(definition.options).map(optionUsage)].join(' '),
    summary,
    description,
    options,
    run: async (context) => {
      const args =
        'config' in options ? await withConfigFile(name, context, options) : context.args;
      const parsed = parseCommandArgs(name, { args, env: context.env }, options);
      checkOperands(name, operands, parsed.operands);
      return run({ ...context, ...parsed });
    },
  };
}

function optionUsage([name, option]: readonly [string, Option]): string {
  if (option.type === 'boolean') return `[--${name}]`;
  return `[--${name} ${option.value}]${'multiple' in option ? '...' : ''}`;
}

/** The module is loaded on demand, because few command lines name a file. */
async function withConfigFile(
  command: string,
  { args, cwd }: Pick<CliContext, 'args' | 'cwd'>,
  options: Options,
): Promise<readonly string[]> {
  if (!args.some((arg) => arg.startsWith('--config'))) return args;
  const { expandConfigFile } = await import('./config-file.ts');
  return expandConfigFile({ command, args, cwd, options });
}

function parseCommandArgs<O extends Options>(
  command: string,
  { args, env }: Pick<CliContext, 'args' | 'env'>,
  options: O,
): {
  readonly values: OptionValues<O>;
  readonly written: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
} {
  const { values, positionals } = splitArgs(command, args, options);
  const defaults = Object.fromEntries(
    Object.entries(options).flatMap(([name, option]): [string, unknown][] =>
      option.type === 'boolean' ? [[name, false]] : 'multiple' in option ? [[name, []]] : [],
    ),
  );
  // The result of `parseArgs` has the names and types of `options`, but its generic type loses
  // them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  const written = { ...defaults, ...values } as unknown as OptionValues<O>;
  const fromEnvironment = Object.entries(values).flatMap(([name, value]) => {
    const option = options[name];
    return option?.type === 'string' && option.fromEnvironment === true && typeof value === 'string'
      ? [[name, readEnvironment({ command, option: name, value, env })]]
      : [];
  });
  return {
    values: { ...written, ...Object.fromEntries(fromEnvironment) },
    written,
    operands: positionals,
  };
}

function splitArgs(
  command: string,
  args: readonly string[],
  options: Options,
): Pick<ReturnType<typeof parseArgs>, 'values' | 'positionals'> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(firstSentence(error), command);
  }
}

/** The first sentence of Node's message; the rest is advice for other cases. */
function firstSentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message.split(/\.\s|\n/)[0]?.replace(/\.$/, '') ?? message}.`;
}

function checkOperands(
  command: string,
  names: readonly string[],
  operands: readonly string[],
): void {
  const missing = names[operands.length];
  if (missing !== undefined && !missing.startsWith('['))
    throw new UsageError(`${missing} is missing.`, command);
  const extra = operands[names.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`, command);
}
