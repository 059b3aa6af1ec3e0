import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { StoreUnavailableError } from '../../store-errors.ts';

/** Where an owner can be asked whether it lives: a name beside the database, else the whole path of a socket or pipe. */
export type OwnerAddress = string;

/** A local socket that listens for as long as its process lives, however stopped or slow that is. */
export interface OwnerSocket {
  readonly address: OwnerAddress;
  close(): void;
}

/** What a socket's path may have in bytes: 104 with its end on macOS, 108 on Linux. */
const MAX_PATH_BYTES = 100;

/**
 * Begins to listen: beside the database, or where its file system has no sockets, in the system's folder for temporary
 * files. Who may write the database may connect.
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

/** Removes what an owner that is dead left behind. */
export function removeOwnerSocket(database: string, address: OwnerAddress): void {
  if (platform() !== 'win32') rmSync(toSocketPath(database, address), { force: true });
}

/**
 * Whether somebody listens there. The kernel answers for a process that is stopped, and refuses for one that is gone. What
 * it says otherwise (no right to ask, too many who ask) proves nothing: it counts as life.
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
    // To be let in is the answer.
    socket.on('error', () => undefined);
    socket.destroy();
  });
  server.unref();
  await withShortPath(path, async (short) => listenOn(server, short));
  // Afterwards nothing that goes wrong with it may end the process.
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
  // Exclusive: in a cluster, the first process would else listen for all of them, and live longer.
  server.listen({ path, exclusive: true }, resolve);
  await promise;
  server.off('error', reject);
}

function toSocketPath(database: string, address: OwnerAddress): string {
  return isAbsolute(address) || address.startsWith('\\\\.\\pipe\\')
    ? address
    : join(dirname(database), basename(address));
}

/** A path that is too long for a socket is gone through a link to its folder. */
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
