import { defineCommand, type Command } from '../command/command.ts';
import type { Option } from '../command/options.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { createPaint, type Paint } from '../terminal/paint.ts';
import { formatTable } from '../terminal/table.ts';
import { UsageError } from '../command/usage-error.ts';

/** The command that shows the help of the other commands and of itself. */
export function helpCommand(commands: readonly Command[]): Command {
  const help: Command = defineCommand({
    name: 'help',
    operands: ['[COMMAND]'],
    summary: 'Show the help of the program or of a command',
    description: 'Lists all commands, or shows the help page of one.',
    options: {},
    run: async ({ operands, values, stdout, env, version }) => {
      const paint = createPaint(stdout, env);
      const all = [...commands, help];
      const [name] = operands;
      const one = all.find((command) => command.name === name);
      if (name !== undefined && one === undefined)
        throw new UsageError(`There is no command "${name}".`);
      if (values.json)
        for (const command of one === undefined ? all : [one]) stdout.write(commandJson(command));
      else
        stdout.write(one === undefined ? mainPage(all, version, paint) : commandPage(one, paint));
      return EXIT_OK;
    },
  });
  return help;
}

/** The help page of a command. */
export function commandPage(
  { usage, summary, description, options }: Command,
  paint: Paint,
): string {
  const rows = Object.entries(options).map(([name, option]) => [
    `  --${name}${option.type === 'string' ? ` ${option.value}` : ''}`,
    option.summary,
  ]);
  return joinLines([
    `${paint('bold', 'petrichor')} ${usage}`,
    '',
    `${summary}.`,
    '',
    description,
    '',
    paint('bold', 'Options'),
    ...formatTable(rows),
  ]);
}

function mainPage(commands: readonly Command[], version: string, paint: Paint): string {
  return joinLines([
    `${paint('bold', 'petrichor')} ${paint('dim', version)}  Durable agent sessions, from a terminal.`,
    '',
    paint('bold', 'Commands'),
    ...formatTable(commands.map(({ usage, summary }) => [`  ${withoutOptions(usage)}`, summary])),
    '',
    paint('bold', 'Options of every command'),
    ...formatTable([
      ['  --json', 'Write one JSON object per line, for programs'],
      ['  --debug', 'Show the stack of an error'],
      ['  --help', 'Show the help page of a command'],
      ['  --version', 'Show the version of this program'],
    ]),
    '',
    paint('bold', 'Exit codes'),
    '  0 success, 1 failure, 2 invalid command line, 128 + n ended by signal n.',
  ]);
}

/** The usage without options, which are on the command's own page. */
function withoutOptions(usage: string): string {
  return usage.split(' [--')[0] ?? usage;
}

function commandJson({ name, usage, summary, options }: Command): string {
  const listed = Object.entries(options).map(([option, definition]) =>
    optionJson(option, definition),
  );
  return `${JSON.stringify({ command: name, usage, summary, options: listed })}\n`;
}

function optionJson(name: string, option: Option): object {
  return { name, type: option.type, summary: option.summary };
}

function joinLines(rows: readonly string[]): string {
  return `${rows.join('\n')}\n`;
}
