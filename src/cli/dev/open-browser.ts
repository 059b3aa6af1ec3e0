import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { platform } from 'node:os';
import type { CliContext } from '../command/cli-context.ts';

/**
 * Opens a page in the browser of the person. It does nothing without a terminal, in CI, and where there is no display.
 * `BROWSER` names another program; `none` is no program.
 * @returns the process, if one was started
 */
export function openBrowser(
  url: string,
  { stdout, env }: Pick<CliContext, 'stdout' | 'env'>,
): ChildProcess | undefined {
  const command = findOpener(env);
  const isCi = !['', '0', 'false'].includes(env['CI'] ?? '');
  if (stdout.isTTY !== true || isCi || command === undefined) return undefined;
  const [program, ...args] = command;
  const child = spawn(program, [...args, url], {
    stdio: 'ignore',
    detached: true,
    env: { ...env },
  });
  // The address is printed, too.
  child.on('error', () => {});
  child.unref();
  return child;
}

function findOpener(
  env: CliContext['env'],
): readonly [program: string, ...args: string[]] | undefined {
  const { BROWSER: browser = '', DISPLAY: display, WAYLAND_DISPLAY: wayland } = env;
  if (browser === 'none') return undefined;
  if (browser !== '') return [browser];
  switch (platform()) {
    case 'darwin':
      return ['open'];
    case 'win32':
      return ['cmd', '/c', 'start', ''];
    default:
      return display === undefined && wayland === undefined ? undefined : ['xdg-open'];
  }
}
