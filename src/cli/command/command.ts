import { parseArgs } from 'node:util';
import type { CliContext } from './cli-context.ts';
import type { ExitCode } from './exit-code.ts';
import { UsageError } from './usage-error.ts';

/** An option that is there or not. */
export interface Switch {
  readonly type: 'boolean';
  readonly summary: string;
}

/** An option that takes a value; `value` names it in the help. */
export interface TextOption {
  readonly type: 'string';
  readonly value: string;
  readonly summary: string;
}

/** An option that may be given several times. */
export interface ListOption extends TextOption {
  readonly multiple: true;
}

export type Option = Switch | TextOption | ListOption;
export type Options = Readonly<Record<string, Option>>;

/** What was given for each option: a switch is off unless given, a list is empty. */
export type OptionValues<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Switch
    ? boolean
    : O[Name] extends ListOption
      ? readonly string[]
      : string | undefined;
};

/** What every command takes. */
export interface CommonOptions extends Options {
  readonly json: Switch;
  readonly debug: Switch;
  readonly help: Switch;
}

const commonOptions: CommonOptions = {
  json: { type: 'boolean', summary: 'Write for programs: one JSON object a line' },
  debug: { type: 'boolean', summary: 'Show where an error came from' },
  help: { type: 'boolean', summary: 'Show this page' },
};

/** One thing the program can do. Plain data and a function: it runs with any streams. */
export interface Command {
  readonly name: string;
  /** The command line after the program's name, with `NAME`s to fill in. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  /** More, for the command's own page. */
  readonly description: string;
  readonly options: Options;
  /** @throws UsageError, and what goes wrong while it runs. */
  readonly run: (context: CliContext) => Promise<ExitCode>;
}

/** What a command's own code gets: the world, and its command line, read. */
export interface CommandCall<O extends Options> extends CliContext {
  readonly values: OptionValues<O & CommonOptions>;
  readonly operands: readonly string[];
}

export interface CommandDefinition<O extends Options> {
  readonly name: string;
  /** What stands after the name, besides options: how each is called. Those in brackets may be left out. */
  readonly operands: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly options: O;
  readonly run: (call: CommandCall<O>) => Promise<ExitCode>;
}

/** Makes a command whose `run` reads its arguments first. */
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
      const read = parseCommandArgs(name, context.args, options);
      checkOperands(name, operands, read.operands);
      return run({ ...context, ...read });
    },
  };
}

function optionUsage([name, option]: readonly [string, Option]): string {
  if (option.type === 'boolean') return `[--${name}]`;
  return `[--${name} ${option.value}]${'multiple' in option ? '...' : ''}`;
}

function parseCommandArgs<O extends Options>(
  command: string,
  args: readonly string[],
  options: O,
): { readonly values: OptionValues<O>; readonly operands: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const off = Object.fromEntries(
      Object.entries(options).flatMap(([name, option]): [string, unknown][] =>
        option.type === 'boolean' ? [[name, false]] : 'multiple' in option ? [[name, []]] : [],
      ),
    );
    // What `parseArgs` gives has the names and kinds of `options`; its type loses them for a generic one.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    return { values: { ...off, ...values } as unknown as OptionValues<O>, operands: positionals };
  } catch (error) {
    throw new UsageError(firstSentence(error), command);
  }
}

/** The first sentence: what follows it in Node's messages is advice for another case. */
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
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many.`, command);
}
