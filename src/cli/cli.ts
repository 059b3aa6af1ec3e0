import { inspect } from 'node:util';
import { adkCommand } from './commands/adk-command.ts';
import { archivedCommand } from './commands/archived-command.ts';
import { backupCommand, restoreCommand } from './commands/backup-command.ts';
import { chatCommand } from './commands/chat-command.ts';
import type { CliContext } from './command/cli-context.ts';
import type { Command } from './command/command.ts';
import { EXIT_FAILURE, EXIT_OK, EXIT_USAGE, type ExitCode } from './command/exit-code.ts';
import { toFailureJson } from './command/failure-json.ts';
import { consoleCommand } from './commands/console-command.ts';
import { devCommand, devServerCommand } from './commands/dev-command.ts';
import { drainCommand } from './commands/drain-command.ts';
import { evictCommand } from './commands/evict-command.ts';
import { exportCommand } from './commands/export-command.ts';
import { graphCommand } from './commands/graph-command.ts';
import { commandPage, helpCommand } from './commands/help-command.ts';
import { importCommand } from './commands/import-command.ts';
import { keysCommand } from './commands/keys-command.ts';
import { mcpCommand } from './commands/mcp-command.ts';
import { createPaint } from './terminal/paint.ts';
import { printable } from './terminal/printable.ts';
import { proveCommand } from './commands/prove-command.ts';
import { replayCommand } from './commands/replay-command.ts';
import { retainCommand } from './commands/retain-command.ts';
import { runCommand } from './commands/run-command.ts';
import { schedulesCommand } from './commands/schedules-command.ts';
import { serveCommand } from './commands/serve-command.ts';
import { sessionsCommand } from './commands/sessions-command.ts';
import { quotasCommand } from './commands/quotas-command.ts';
import { sizesCommand } from './commands/sizes-command.ts';
import { vacuumCommand } from './commands/vacuum-command.ts';
import { unquarantineCommand } from './commands/unquarantine-command.ts';
import { UsageError } from './command/usage-error.ts';

const commands: readonly Command[] = [
  runCommand,
  devCommand,
  serveCommand,
  mcpCommand,
  adkCommand,
  chatCommand,
  consoleCommand,
  keysCommand,
  sessionsCommand,
  schedulesCommand,
  drainCommand,
  evictCommand,
  unquarantineCommand,
  replayCommand,
  backupCommand,
  restoreCommand,
  exportCommand,
  importCommand,
  quotasCommand,
  sizesCommand,
  retainCommand,
  archivedCommand,
  vacuumCommand,
  graphCommand,
  proveCommand,
];

/**
 * Runs the program. The first argument names a command. It never rejects: an error becomes a
 * message and an exit code.
 */
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
  const commandName = name === '--help' || name === '-h' ? help.name : name;
  const command = [...commands, devServerCommand, help].find(
    ({ name: candidate }) => candidate === commandName,
  );
  if (command === undefined) throw new UsageError(`There is no command "${name}".`);
  if (requestsHelp(args) && command !== help) {
    context.stdout.write(commandPage(command, createPaint(context.stdout, context.env)));
    return EXIT_OK;
  }
  return command.run({ ...context, args });
}

function showVersion({ args, stdout, version }: CliContext): ExitCode {
  stdout.write(args.includes('--json') ? `${JSON.stringify({ version })}\n` : `${version}\n`);
  return EXIT_OK;
}

function requestsHelp(args: readonly string[]): boolean {
  return listOptions(args).some((arg) => arg === '--help' || arg === '-h');
}

/**
 * Writes an error: one sentence for a person, or one JSON object for a program. `--debug` adds the
 * stack.
 */
function report(error: unknown, { args, stderr, env }: CliContext): ExitCode {
  const options = listOptions(args);
  if (options.includes('--json')) {
    stderr.write(`${JSON.stringify(toFailureJson(error))}\n`);
  } else {
    stderr.write(
      `${createPaint(stderr, env)('red', 'petrichor:')} ${printable(toFailureJson(error).message)}\n`,
    );
  }
  if (options.includes('--debug')) stderr.write(`${inspect(error)}\n`);
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
}

function listOptions(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}
