import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import {
  ARGS_FD,
  bubblewrapArgs,
  ENV_FILE,
  FOLDER_INSIDE,
  GATE_FD,
  PASSWD,
  type HostFacts,
} from './bubblewrap-args.ts';
import { canMeasureMemory, residentMemory } from './resident-memory.ts';
import { runChildProcess, type ChildProcessOutcome, type ChildPlan } from './run-child-process.ts';
import { defaultSandboxLimits, type SandboxLimits } from './sandbox-limits.ts';
import type { Sandbox, SandboxCommand } from './sandbox.ts';
import { SandboxUnavailableError } from './sandbox-unavailable-error.ts';
import { waitForExit } from './wait-for-exit.ts';

/** Options of `bubblewrap`: the programs it uses and the network. */
export interface BubblewrapOptions {
  /** The bubblewrap binary. Default: `/usr/bin/bwrap`. */
  readonly bwrap?: string;
  /** The Node.js binary to provide inside. Default: the one that runs this process. */
  readonly node?: string;
  /**
   * Shares the network of the host, including private addresses. Default: false, no network at all.
   */
  readonly network?: boolean;
}

/** The user that the command runs as, from outside. Undefined: the user of this process. */
type RunAsUser = { readonly uid: number; readonly gid: number } | undefined;

/** The options of `bubblewrap`. */
export const BUBBLEWRAP_OPTIONS: OptionTable = optionTable<BubblewrapOptions>('bubblewrap', {
  bwrap: true,
  node: true,
  network: true,
});

/**
 * A sandbox of Linux namespaces, by bubblewrap. Commands have no privileges, inherit nothing, can
 * write only their folder and have no network. All their processes are killed when the command
 * ends, and when this process ends.
 *
 * If this process is root, a command runs as the owner of its folder. A folder that belongs to root
 * is rejected, because resource limits do not hold root.
 */
export function bubblewrap(options: BubblewrapOptions = {}): Sandbox {
  checkOptions(BUBBLEWRAP_OPTIONS, options);
  const { bwrap = '/usr/bin/bwrap', network = false } = options;
  const run = async (command: SandboxCommand): Promise<ChildProcessOutcome> => {
    checkHost(bwrap);
    const folder = await realpath(command.folder);
    const runAs = await userFor(folder);
    const limits = { ...defaultSandboxLimits, ...command.limits };
    const args = bubblewrapArgs(folder, hostFacts(options.node, runAs), { network });
    const outcome = await runChildProcess(planFor(bwrap, args, command, limits, runAs), {
      limits,
      signal: command.signal,
      kill: (child) => child.kill('SIGKILL'),
      measureMemory: residentMemory,
      waitForExit,
    });
    // bubblewrap reports an exit code only for a command that it could start.
    if (outcome.endedBy === 'exit' && !outcome.report.includes('"exit-code"')) {
      throw new SandboxUnavailableError(`bubblewrap could not set it up: ${outcome.stderr.trim()}`);
    }
    return outcome;
  };
  return {
    name: 'bubblewrap',
    isolated: true,
    pathInside: () => FOLDER_INSIDE,
    check: async () => {
      checkHost(bwrap);
      // Any readable folder of the system will do: whether namespaces are available does not depend
      // on it.
      const unprivilegedUser = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
      const args = bubblewrapArgs('/usr/share', hostFacts(options.node, unprivilegedUser), {
        network,
      });
      const plan = planFor(
        bwrap,
        args,
        { argv: ['true'], folder: '/' },
        defaultSandboxLimits,
        unprivilegedUser,
      );
      const { report, stderr } = await runChildProcess(plan, {
        limits: { ...defaultSandboxLimits, timeMs: 10_000 },
        signal: undefined,
        kill: (child) => child.kill('SIGKILL'),
      });
      if (/"exit-code"\s*:\s*0\b/.test(report)) return;
      throw new SandboxUnavailableError(`bubblewrap could not set it up: ${stderr.trim()}`);
    },
    run: async (command) => {
      const { report: _, ...result } = await run(command);
      return result;
    },
  };
}

function checkHost(bwrap: string): void {
  for (const [program, from] of [
    [bwrap, 'bubblewrap'],
    ['/usr/bin/prlimit', 'util-linux'],
    ['/usr/bin/setpriv', 'util-linux'],
  ] as const) {
    if (existsSync(program)) continue;
    throw new SandboxUnavailableError(
      `${program} does not exist. On Debian: apt-get install ${from}. ` +
        'Or set unsandboxed: true; commands then run with all rights of this process.',
    );
  }
  if (!canMeasureMemory()) {
    throw new SandboxUnavailableError(
      'this kernel has no /proc/thread-self/children, which the memory limit needs.',
    );
  }
}

async function userFor(folder: string): Promise<RunAsUser> {
  const { uid, gid } = await stat(folder);
  if (userInfo().uid !== 0) return undefined;
  if (uid !== 0) return { uid, gid };
  throw new SandboxUnavailableError(
    `this process is root, and so is the owner of the folder ${folder}. ` +
      'Give the folder to an ordinary user (chown): commands then run as that user.',
  );
}

/**
 * Waits until its parent, the first process of the sandbox, sleeps: from then on everything dies
 * with the sandbox, and the sandbox with this process. Then it reports that it is ready, closes the
 * descriptors it inherited, and becomes the command. If no answer comes, this process is gone, and
 * it exits.
 */
const START = `until read -r _ _ state _ < /proc/1/stat; [[ $state == S ]]; do :; done
echo ready >&${GATE_FD}; read -r go <&${GATE_FD}; [[ $go == go ]] || exit 1
for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd > 2)) && eval "exec $fd>&-"; done
unset fd go state _; . ${ENV_FILE}; exec -- "$@"`;

/** Address space that engines such as V8 reserve without using it. The kernel counts it as data. */
const RESERVED_BYTES = 768 * 1024 * 1024;

function planFor(
  bwrap: string,
  args: readonly string[],
  { argv, env = {}, stdin = '' }: SandboxCommand,
  limits: SandboxLimits,
  runAs: RunAsUser,
): ChildPlan {
  // The arguments are passed through a pipe, so that the process list does not show them.
  const sandboxed = ['--args', String(ARGS_FD), '--', '/usr/bin/prlimit', ...limitArgs(limits)];
  const inside = ['--', '/bin/bash', '-c', START, 'bash', ...argv];
  const privileges = ['--reuid', String(runAs?.uid), '--regid', String(runAs?.gid)];
  const drop = [...privileges, '--clear-groups', '--no-new-privs', '--'];
  return {
    file: runAs === undefined ? bwrap : '/usr/bin/setpriv',
    args: [...(runAs === undefined ? [] : [...drop, bwrap]), ...sandboxed, ...inside],
    // These programs run outside the sandbox: nothing that a session controls may reach them.
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stdin,
    inputs: [args.map((arg) => `${arg}\0`).join(''), assignments(env), PASSWD],
    gated: true,
    detached: false,
  };
}

function limitArgs({ processes, memoryBytes, fileBytes }: SandboxLimits): readonly string[] {
  return [
    `--nproc=${processes}`,
    `--data=${memoryBytes + RESERVED_BYTES}`,
    `--fsize=${fileBytes}`,
    '--nofile=1024',
    '--core=0',
  ];
}

function assignments(env: { readonly [name: string]: string }): string {
  return Object.entries(env)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`)
    .join('');
}

const SYSTEM_FOLDERS: readonly string[] = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

function hostFacts(node: string | undefined, runAs: RunAsUser): HostFacts {
  const present = SYSTEM_FOLDERS.filter((name) => existsSync(`/${name}`));
  const nodePath = node ?? realpathSync('/proc/self/exe');
  return {
    systemFolders: Object.fromEntries(
      present.map((name) => [
        name,
        lstatSync(`/${name}`).isSymbolicLink() ? readlinkSync(`/${name}`) : null,
      ]),
    ),
    // A Node.js binary that this user cannot reach cannot be mounted. One in /usr is visible
    // anyway.
    nodePath: runAs === undefined || isReachable(nodePath, runAs.uid) ? nodePath : undefined,
  };
}

function isReachable(path: string, uid: number): boolean {
  const { mode, uid: owner } = statSync(path);
  const allowed = owner === uid ? (mode & 0o100) !== 0 : (mode & 0o001) !== 0;
  const parent = dirname(path);
  return allowed && (parent === path || isReachable(parent, uid));
}
