/** What the sandbox mounts from the host. */
export interface HostFacts {
  /**
   * Top-level names such as `bin` and `lib64`. The value is the target of the symbolic link, or
   * null for a folder.
   */
  readonly systemFolders: { readonly [name: string]: string | null };
  /** The Node.js binary to mount into the sandbox, if it must. */
  readonly nodePath: string | undefined;
}

/**
 * File descriptors that a sandboxed process inherits after stdin, stdout and stderr. The order is
 * that of `runChildProcess`.
 */
export const ARGS_FD = 3;
export const ENV_FD = 4;
export const PASSWD_FD = 5;
export const STATUS_FD = 6;
export const GATE_FD = 7;

/** The path of the command's folder inside the sandbox. */
export const FOLDER_INSIDE = '/workspace';
/** A file of shell assignments. The variables are set inside, after the limits. */
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
 * The bubblewrap arguments for one command: new namespaces of every kind, no capabilities, no
 * further user namespaces; a read-only system, a small private /tmp, the command's folder, and
 * nothing else of the host.
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
    ...readableFiles(network).map((path) => ['--ro-bind-try', path, path]),
    ['--ro-bind-data', String(PASSWD_FD), '/etc/passwd'],
    ['--ro-bind-data', String(ENV_FD), ENV_FILE],
    nodePath === undefined ? [] : ['--ro-bind', nodePath, `${NODE_FOLDER}/node`],
    ['--proc', '/proc', '--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    [...size, '--tmpfs', '/tmp', '--bind', folder, FOLDER_INSIDE, '--chdir', FOLDER_INSIDE],
    ['--remount-ro', '/'],
  ].flat();
}

function readableFiles(network: boolean): readonly string[] {
  const system = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime'];
  const names = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl'];
  return network ? [...system, ...names] : system;
}

function pairs(option: string, values: { readonly [name: string]: string }): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => [option, name, value]);
}
