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
import {
  defaultSandboxLimits,
  type Sandbox,
  type SandboxCommand,
  type SandboxLimits,
} from './sandbox.ts';
import { SandboxUnavailableError } from './sandbox-unavailable-error.ts';
import { waitForExit } from './wait-for-exit.ts';

/** How a sandbox is built: with which programs, and with the network or without. */
export interface BubblewrapOptions {
  /** The program; `/usr/bin/bwrap` unless said. */
  readonly bwrap?: string;
  /** The program that runs JavaScript inside; the one that runs this, unless said. */
  readonly node?: string;
  /** Shares the network of the host, private addresses included. No network at all unless said. */
  readonly network?: boolean;
}

/** The user that a command is, seen from outside. Undefined: the one that this process is. */
type RunAsUser = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Runs commands under bubblewrap: Linux namespaces, no privileges. Nothing is inherited, nothing but the folder can be
 * written, there is no network, and everything dies with the command, and with this process. As root, commands run as
 * the owner of their folder, and a folder that belongs to root is refused: root is held by no limit.
 */
export function bubblewrap(options: BubblewrapOptions = {}): Sandbox {
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
      waitForExit: waitForExit,
    });
    // It reports an exit only of a command that it could start.
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
      // A folder of the system that is only looked at: whether namespaces can be had does not depend on it.
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
      `${program} is not there. On Debian: apt-get install ${from}. ` +
        'Or set unsandboxed: true, and commands run with all this process may do.',
    );
  }
  if (!canMeasureMemory()) {
    throw new SandboxUnavailableError('this kernel does not tell which process started which.');
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
 * Waits until its parent, the first process of the sandbox, rests: from then on all of it dies with the sandbox, and
 * that with this process. Then it asks to begin, closes what this process inherited and would hand on, and becomes the
 * command. When nobody answers, nobody is there any more.
 */
const START = `until read -r _ _ state _ < /proc/1/stat; [[ $state == S ]]; do :; done
echo ready >&${GATE_FD}; read -r go <&${GATE_FD}; [[ $go == go ]] || exit 1
for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd > 2)) && eval "exec $fd>&-"; done
unset fd go state _; . ${ENV_FILE}; exec -- "$@"`;

/** Address space that engines such as V8 reserve without using it; the kernel counts it as data. */
const RESERVED_BYTES = 768 * 1024 * 1024;

function planFor(
  bwrap: string,
  args: readonly string[],
  { argv, env = {}, stdin = '' }: SandboxCommand,
  limits: SandboxLimits,
  runAs: RunAsUser,
): ChildPlan {
  // Its arguments come by a pipe, so that the list of processes does not show them.
  const sandboxed = ['--args', String(ARGS_FD), '--', '/usr/bin/prlimit', ...limitArgs(limits)];
  const inside = ['--', '/bin/bash', '-c', START, 'bash', ...argv];
  const privileges = ['--reuid', String(runAs?.uid), '--regid', String(runAs?.gid)];
  const drop = [...privileges, '--clear-groups', '--no-new-privs', '--'];
  return {
    file: runAs === undefined ? bwrap : '/usr/bin/setpriv',
    args: [...(runAs === undefined ? [] : [...drop, bwrap]), ...sandboxed, ...inside],
    // These two run outside: nothing that a session chose may reach them.
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
    // A node that this user may not reach cannot be brought along: one in /usr serves too.
    nodePath: runAs === undefined || isReachable(nodePath, runAs.uid) ? nodePath : undefined,
  };
}

function isReachable(path: string, uid: number): boolean {
  const { mode, uid: owner } = statSync(path);
  const allowed = owner === uid ? (mode & 0o100) !== 0 : (mode & 0o001) !== 0;
  const parent = dirname(path);
  return allowed && (parent === path || isReachable(parent, uid));
}
