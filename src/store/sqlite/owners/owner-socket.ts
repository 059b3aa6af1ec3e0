import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { StoreUnavailableError } from '../../store-errors.ts';

/** The address of an owner's socket: a file name beside the database, or the full path of a socket or pipe. */
export type OwnerAddress = string;

/** A local socket that listens while its process lives, even if the process is stopped or slow. */
export interface OwnerSocket {
  readonly address: OwnerAddress;
  close(): void;
}

/** Longest path of a socket that is used, in bytes. The limit is 104 on macOS and 108 on Linux, with the final NUL. */
const MAX_PATH_BYTES = 100;

/**
 * Opens a listening socket beside the database or, if that file system has no sockets, in the temporary directory.
 * Users that can write the database can connect to it.
 * @throws StoreUnavailableError
 */
export async function openOwnerSocket(database: string): Promise<OwnerSocket> {
  const id = randomBytes(8).toString('hex');
  if (platform() === 'win32') return listen(`\\\\.\\pipe\\petrichor-${id}`, undefined);
  const mode = statSync(database).mode & 0o666;
  const besideDatabase = `${database}-live-${id}`;
  try {
    return { ...(await listen(besideDatabase, mode)), address: basename(besideDatabase) };
  } catch {
    const inTemporaryFolder = join(tmpdir(), `petrichor-live-${id}`);
    return listen(inTemporaryFolder, mode).catch((cause: unknown) => {
      throw new StoreUnavailableError('io', database, { cause });
    });
  }
}

/** Removes the socket file of a dead owner. */
export function removeOwnerSocket(database: string, address: OwnerAddress): void {
  if (platform() !== 'win32') rmSync(toSocketPath(database, address), { force: true });
}

/**
 * True when a process listens at the address. The kernel accepts the connection for a stopped process and refuses it
 * for a dead one. Other errors (no permission, full backlog) prove nothing and count as alive.
 */
export async function isListening(database: string, address: OwnerAddress): Promise<boolean> {
  return withShortPath(toSocketPath(database, address), async (path) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(path);
    socket.on('connect', () => resolve(true));
    socket.on('error', (error) =>
      resolve(!('code' in error && (error.code === 'ECONNREFUSED' || error.code === 'ENOENT'))),
    );
    try {
      return await promise;
    } finally {
      socket.destroy();
    }
  });
}

async function listen(path: string, mode: number | undefined): Promise<OwnerSocket> {
  const server = createServer((socket) => {
    // The accepted connection is the answer; no data is needed.
    socket.on('error', () => undefined);
    socket.destroy();
  });
  server.unref();
  await withShortPath(path, async (short) => listenOn(server, short));
  // A later error of the socket must not end the process.
  server.on('error', () => undefined);
  if (mode !== undefined) chmodSync(path, mode);
  return {
    address: path,
    close: () => {
      server.close();
      if (mode !== undefined) rmSync(path, { force: true });
    },
  };
}

async function listenOn(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // Exclusive: otherwise the primary process of a cluster would listen for its workers, and outlive them.
  server.listen({ path, exclusive: true }, resolve);
  await promise;
  server.off('error', reject);
}

function toSocketPath(database: string, address: OwnerAddress): string {
  return isAbsolute(address) || address.startsWith('\\\\.\\pipe\\')
    ? address
    : join(dirname(database), basename(address));
}

/** Calls `use` with a path that is short enough for a socket: through a temporary link to the folder, if necessary. */
async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (platform() === 'win32' || Buffer.byteLength(path) <= MAX_PATH_BYTES) return use(path);
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-'));
  try {
    const link = join(folder, 'l');
    symlinkSync(dirname(path), link);
    return await use(join(link, basename(path)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
