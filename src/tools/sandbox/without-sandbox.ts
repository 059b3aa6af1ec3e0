import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { runChildProcess } from './run-child-process.ts';
import { defaultSandboxLimits } from './sandbox-limits.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Runs commands with the rights of this process: only for a machine that holds nothing else.
 * Environment variables, time and output are limited; memory, processes, files and network are not.
 * A process that leaves its process group outlives the command, and a command outlives this process
 * if that is killed.
 */
export function withoutSandbox(): Sandbox {
  return {
    name: 'none',
    isolated: false,
    pathInside: (folder) => folder,
    check: () => Promise.resolve(),
    run: async ({ argv: [file, ...args], folder, env = {}, stdin = '', limits, signal }) => {
      const plan = {
        file,
        args,
        cwd: folder,
        env: { ...variables(), ...env },
        stdin,
        inputs: [],
        gated: false,
        detached: true,
      };
      const { report: _, ...result } = await runChildProcess(plan, {
        limits: { ...defaultSandboxLimits, ...limits },
        signal,
        kill: killGroup,
      });
      return result;
    },
  };
}

function variables(): { readonly [name: string]: string } {
  const ownNode = existsSync('/proc/self/exe') ? [dirname(realpathSync('/proc/self/exe'))] : [];
  const path = [...ownNode, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  return { PATH: path, HOME: '/tmp', LANG: 'C.UTF-8', TERM: 'dumb' };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  child.kill('SIGKILL');
  // A negative pid, which means the process group, is accepted by the shell's `kill`.
  spawn('/bin/sh', ['-c', `kill -9 -${child.pid}`], { stdio: 'ignore', env: {} }).on(
    'error',
    () => undefined,
  );
}
