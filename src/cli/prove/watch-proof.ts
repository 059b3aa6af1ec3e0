import { fork } from 'node:child_process';
import { packageProgram } from '../../core/internal.ts';
import type { CliContext } from '../command/cli-context.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';

/** How long after an interrupt the child may still run. */
const GRACE_MS = 2_000;

/**
 * Runs the command in a child process that Node starts again when the module, or a file that it imports, changes. A
 * process of its own is needed because a module is loaded once in a process. Ends on Ctrl-C.
 */
export async function watchProof({
  args,
  cwd,
  env,
  stdout,
  stderr,
  signals,
  clock,
}: Pick<
  CliContext,
  'args' | 'cwd' | 'env' | 'stdout' | 'stderr' | 'signals' | 'clock'
>): Promise<ExitCode> {
  const rest = args.filter((argument) => argument !== '--watch');
  const child = fork(packageProgram('cli/main'), ['prove', ...rest], {
    cwd,
    env: { ...env },
    execArgv: ['--watch', '--watch-preserve-output'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.stdout?.on('data', (chunk: Buffer) => stdout.write(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.write(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<ExitCode>();
  let cancelKill = (): void => {};
  const stop = (): void => {
    child.kill('SIGTERM');
    cancelKill = clock.at(clock.now() + GRACE_MS, () => void child.kill('SIGKILL'));
  };
  child.on('error', reject);
  child.on('close', () => resolve(EXIT_OK));
  signals.on('SIGINT', stop);
  signals.on('SIGTERM', stop);
  return promise.finally(() => {
    cancelKill();
    signals.off('SIGINT', stop);
    signals.off('SIGTERM', stop);
  });
}
