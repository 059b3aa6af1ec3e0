/** What the host offers, as it was found. */
export interface HostFacts {
  /** Top-level names such as `bin` and `lib64`, each with what it links to, or null when it is a folder. */
  readonly systemFolders: { readonly [name: string]: string | null };
  /** The program that runs JavaScript, when the sandbox must bring it along. */
  readonly nodePath: string | undefined;
}

/** Descriptors that a sandbox is given, after the three of every process. The order is that of `runChild`. */
export const ARGS_FD = 3;
export const ENV_FD = 4;
export const PASSWD_FD = 5;
export const STATUS_FD = 6;
export const GATE_FD = 7;

/** Where a command sees its folder. */
export const FOLDER_INSIDE = '/workspace';
/** A file of shell assignments: a variable counts only when the limits are set. */
export const ENV_FILE = '/run/petrichor-env';
const NODE_FOLDER = '/opt/petrichor/bin';

export const DEFAULT_ENV: { readonly [name: string]: string } = {
  PATH: `${NODE_FOLDER}:/usr/local/bin:/usr/bin:/bin`,
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

export const PASSWD = 'sandbox:x:1000:1000::/tmp:/bin/sh\n';

const SCRATCH_BYTES = 64 * 1024 * 1024;

/**
 * The arguments of bubblewrap for one command: all namespaces of its own, no capability, no way to more namespaces; the
 * system read-only, a small /tmp of its own, the folder, and nothing else of the host.
 */
export function bubblewrapArgs(
  folder: string,
  { systemFolders, nodePath }: HostFacts,
  { network }: { readonly network: boolean },
): readonly string[] {
  const size = ['--size', String(SCRATCH_BYTES)];
  return [
    ['--unshare-all', '--unshare-user', '--disable-userns', ...(network ? ['--share-net'] : [])],
    ['--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ['--die-with-parent', '--new-session', '--json-status-fd', String(STATUS_FD)],
    ['--clearenv', ...pairs('--setenv', DEFAULT_ENV)],
    ['--ro-bind', '/usr', '/usr'],
    ...Object.entries(systemFolders).map(([name, target]) =>
      target === null ? ['--ro-bind', `/${name}`, `/${name}`] : ['--symlink', target, `/${name}`],
    ),
    ...readable(network).map((path) => ['--ro-bind-try', path, path]),
    ['--ro-bind-data', String(PASSWD_FD), '/etc/passwd'],
    ['--ro-bind-data', String(ENV_FD), ENV_FILE],
    nodePath === undefined ? [] : ['--ro-bind', nodePath, `${NODE_FOLDER}/node`],
    ['--proc', '/proc', '--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    [...size, '--tmpfs', '/tmp', '--bind', folder, FOLDER_INSIDE, '--chdir', FOLDER_INSIDE],
    ['--remount-ro', '/'],
  ].flat();
}

function readable(network: boolean): readonly string[] {
  const system = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime'];
  const names = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl'];
  return network ? [...system, ...names] : system;
}

function pairs(option: string, values: { readonly [name: string]: string }): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => [option, name, value]);
}
