import { inspect } from 'node:util';
import { chatCommand } from './chat-command.ts';
import type { CliContext } from './cli-context.ts';
import type { Command } from './command.ts';
import { EXIT_FAILURE, EXIT_OK, EXIT_USAGE, type ExitCode } from './exit-code.ts';
import { failureJson } from './failure-json.ts';
import { evictCommand } from './evict-command.ts';
import { graphCommand } from './graph-command.ts';
import { commandPage, helpCommand } from './help-command.ts';
import { keysCommand } from './keys-command.ts';
import { paintFor } from './paint.ts';
import { printable } from './printable.ts';
import { proveCommand } from './prove-command.ts';
import { replayCommand } from './replay-command.ts';
import { runCommand } from './run-command.ts';
import { serveCommand } from './serve-command.ts';
import { sessionsCommand } from './sessions-command.ts';
import { unquarantineCommand } from './unquarantine-command.ts';
import { UsageError } from './usage-error.ts';

const commands: readonly Command[] = [
  runCommand,
  serveCommand,
  chatCommand,
  keysCommand,
  sessionsCommand,
  evictCommand,
  unquarantineCommand,
  replayCommand,
  graphCommand,
  proveCommand,
];

/** Runs the program: the first argument names a command. Never rejects: an error becomes a sentence and an exit code. */
export async function runCli(context: CliContext): Promise<ExitCode> {
  try {
    return await dispatch(context);
  } catch (error) {
    return report(error, context);
  }
}

async function dispatch(context: CliContext): Promise<ExitCode> {
  const [name = 'help', ...args] = context.args;
  if (name === '--version' || name === '-v') return showVersion({ ...context, args });
  const help = helpCommand(commands);
  const wanted = name === '--help' || name === '-h' ? help.name : name;
  const command = [...commands, help].find((one) => one.name === wanted);
  if (command === undefined) throw new UsageError(`There is no command "${name}".`);
  if (asksForHelp(args) && command !== help) {
    context.stdout.write(commandPage(command, paintFor(context.stdout, context.env)));
    return EXIT_OK;
  }
  return command.run({ ...context, args });
}

function showVersion({ args, stdout, version }: CliContext): ExitCode {
  stdout.write(args.includes('--json') ? `${JSON.stringify({ version })}\n` : `${version}\n`);
  return EXIT_OK;
}

function asksForHelp(args: readonly string[]): boolean {
  return optionsIn(args).some((arg) => arg === '--help' || arg === '-h');
}

/** An error is one sentence for a person, or one object for a program; where it came from only when asked. */
function report(error: unknown, { args, stderr, env }: CliContext): ExitCode {
  const given = optionsIn(args);
  if (given.includes('--json')) {
    stderr.write(`${JSON.stringify(failureJson(error))}\n`);
  } else {
    stderr.write(
      `${paintFor(stderr, env)('red', 'petrichor:')} ${printable(failureJson(error).message)}\n`,
    );
  }
  if (given.includes('--debug')) stderr.write(`${inspect(error)}\n`);
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
}

function optionsIn(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}
