import { constants, existsSync, type Dirent, type Stats } from 'node:fs';
import {
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  type FileHandle,
} from 'node:fs/promises';
import { userInfo } from 'node:os';
import { FileError } from './file-error.ts';

/** A file as it was when it was read: another one in its place is not written over. */
export type FileIdentity = Pick<Stats, 'ino' | 'dev' | 'size' | 'mtimeMs'>;

export interface ReadFile {
  readonly bytes: Buffer;
  readonly identity: FileIdentity;
}

/**
 * A folder that is held open, so that nobody can put another in its place. Names in it are single names, and none is
 * followed when it is a link: to check and to use is one step, also when someone renames and links meanwhile.
 */
export class WorkspaceFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  /** Leads to this very folder, wherever it is moved. */
  readonly #handlePath: string;
  /** For errors: from the working folder on. */
  readonly #displayPath: string;

  private constructor(handle: FileHandle, handlePath: string | undefined, shown: string) {
    this.#handle = handle;
    this.#handlePath = handlePath ?? `/proc/self/fd/${handle.fd}`;
    this.#displayPath = shown;
  }

  /**
   * Opens a folder of the host.
   * @param unsandboxed works also where the system has no /proc: there, links on the way are seen, but not those that are
   * put there at that very moment.
   */
  static async open(
    folder: string,
    { unsandboxed = false }: { readonly unsandboxed?: boolean } = {},
  ): Promise<WorkspaceFolder> {
    const confines = existsSync('/proc/self/fd');
    if (!confines && !unsandboxed) {
      throw new FileError(
        'path_refused',
        '',
        'this system has no /proc/self/fd, so that links cannot be held off: set unsandboxed: true to do without.',
      );
    }
    const path = await realpath(folder);
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    return new WorkspaceFolder(handle, confines ? undefined : path, '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** The folder at the end of a way, each name opened from the one before. With `create`, missing ones are made. */
  async descend(
    parts: readonly string[],
    { create = false }: { readonly create?: boolean } = {},
  ): Promise<WorkspaceFolder> {
    let folder = await this.#reopen();
    for (const part of parts) {
      const outer = folder;
      try {
        folder = await outer.child(part, { create });
      } finally {
        await outer[Symbol.asyncDispose]();
      }
    }
    return folder;
  }

  async child(
    name: string,
    { create = false }: { readonly create?: boolean } = {},
  ): Promise<WorkspaceFolder> {
    const childPath = this.#pathTo(name);
    const displayPath = this.#displayName(name);
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const made = create && (await tryMkdir(childPath));
    const handle = await this.#refuseLinks(name, () => open(childPath, flags));
    const child = new WorkspaceFolder(
      handle,
      this.#isOpenHandle() ? undefined : childPath,
      displayPath,
    );
    if (made) await this.#matchOwner(handle);
    return child;
  }

  /** What is in it, by name. Links are told as links. */
  async entries(): Promise<readonly Dirent[]> {
    const all = await readdir(this.#handlePath, { withFileTypes: true });
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** What a name stands for: a link is a link. Undefined when it stands for nothing. */
  async stat(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.#pathTo(name));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw this.#failure(name, error);
    }
  }

  /**
   * Reads a file of at most `maxBytes`. What is not a file (a pipe, a device, a folder, a link) is refused unread, and so
   * is the file of a SQLite database that is open.
   */
  async read(name: string, maxBytes: number): Promise<ReadFile> {
    await this.#assertNotOpenDatabase(name);
    // A pipe would else hold us until someone writes to it.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using handle = await this.#refuseLinks(name, () => open(this.#pathTo(name), flags));
    const identity = await handle.stat();
    if (!identity.isFile()) throw this.#notAFile(name);
    const tooLarge = new FileError(
      'file_too_large',
      this.#displayName(name),
      `has ${identity.size} bytes, more than the ${maxBytes} that can be read.`,
    );
    if (identity.size > maxBytes) throw tooLarge;
    const buffer = Buffer.alloc(identity.size + 1);
    let length = 0;
    for (let got = -1; got !== 0 && length < buffer.length; length += got) {
      ({ bytesRead: got } = await handle.read(buffer, length, buffer.length - length));
    }
    if (length > identity.size)
      throw new FileError(
        'file_changed',
        this.#displayName(name),
        'grew while it was read: read it again.',
      );
    return { bytes: buffer.subarray(0, length), identity };
  }

  /**
   * Puts a file in its place at once, whole: no reader ever sees half of it. With `expected`, only over that very file.
   * It belongs to the owner of the folder when this process is root.
   */
  async write(name: string, bytes: Buffer, expected?: FileIdentity): Promise<void> {
    const before = await this.stat(name);
    if (before !== undefined && !before.isFile()) throw this.#notAFile(name);
    await this.#assertNotOpenDatabase(name);
    const temporary = `.petrichor-${crypto.randomUUID()}`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const mode = before === undefined ? 0o644 : before.mode & 0o777;
    try {
      await using handle = await this.#refuseLinks(name, () =>
        open(this.#pathTo(temporary), flags, mode),
      );
      await handle.chmod(mode);
      await this.#matchOwner(handle);
      await handle.writeFile(bytes);
      if (expected !== undefined && !isSame(expected, await this.stat(name))) {
        throw new FileError(
          'file_changed',
          this.#displayName(name),
          'was changed meanwhile: read it again.',
        );
      }
      await this.#refuseLinks(name, () => rename(this.#pathTo(temporary), this.#pathTo(name)));
    } catch (error) {
      await rm(this.#pathTo(temporary), { force: true });
      throw error;
    }
  }

  /**
   * Refuses the file of a SQLite database that somebody has open. POSIX drops all locks that a process has on a file when
   * the process closes it, whoever in it opened it: to read the database of this very process would let another process
   * write into it at the same time.
   */
  async #assertNotOpenDatabase(name: string): Promise<void> {
    const database = name.replace(/-(?:wal|shm|journal)$/, '');
    for (const suffix of ['-wal', '-shm', '-journal']) {
      if (!(await this.#isFile(`${database}${suffix}`)) || !(await this.#isFile(database)))
        continue;
      throw new FileError(
        'file_in_use',
        this.#displayName(name),
        'belongs to a SQLite database that is open: use a command of SQLite in a shell instead.',
      );
    }
  }

  async #isFile(name: string): Promise<boolean> {
    const found = await lstat(this.#pathTo(name)).catch(() => undefined);
    return found?.isFile() === true;
  }

  async #reopen(): Promise<WorkspaceFolder> {
    const handle = await open(this.#handlePath, constants.O_RDONLY | constants.O_DIRECTORY);
    return new WorkspaceFolder(
      handle,
      this.#isOpenHandle() ? undefined : this.#handlePath,
      this.#displayPath,
    );
  }

  /** What root makes in somebody's folder is theirs: their commands must be able to change it. */
  async #matchOwner(handle: FileHandle): Promise<void> {
    if (userInfo().uid !== 0) return;
    const { uid, gid } = await this.#handle.stat();
    await handle.chown(uid, gid);
  }

  #isOpenHandle(): boolean {
    return this.#handlePath.startsWith('/proc/self/fd/');
  }

  #pathTo(name: string): string {
    if (name.includes('/') || name === '' || name === '..') {
      throw new FileError('path_refused', this.#displayName(name), 'is not one name.');
    }
    return `${this.#handlePath}/${name}`;
  }

  #displayName(name: string): string {
    return this.#displayPath === '' ? name : `${this.#displayPath}/${name}`;
  }

  async #refuseLinks<T>(name: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const link = await lstat(this.#pathTo(name)).catch(() => undefined);
      throw link?.isSymbolicLink() === true
        ? new FileError(
            'path_refused',
            this.#displayName(name),
            'is a link, and links are not followed.',
          )
        : this.#failure(name, error);
    }
  }

  #failure(name: string, cause: unknown): FileError {
    const path = this.#displayName(name);
    switch (errorCode(cause)) {
      case 'ENOENT':
        return new FileError('file_not_found', path, 'does not exist.');
      case 'ENOTDIR':
        return new FileError('not_a_folder', path, 'is not a folder.');
      case 'EISDIR':
      case 'ENXIO':
        return this.#notAFile(name);
      case 'EACCES':
      case 'EPERM':
        return new FileError('file_failed', path, 'may not be used.', { cause });
      default:
        // The system's own words would name a path of the host.
        return new FileError('file_failed', path, `failed: ${errorCode(cause)}.`, { cause });
    }
  }

  #notAFile(name: string): FileError {
    return new FileError('not_a_file', this.#displayName(name), 'is not a regular file.');
  }
}

async function tryMkdir(path: string): Promise<boolean> {
  try {
    await mkdir(path, 0o755);
    return true;
  } catch {
    // To open it says what stands there instead, and why.
    return false;
  }
}

function isSame(one: FileIdentity, other: FileIdentity | undefined): boolean {
  return (
    other !== undefined &&
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs
  );
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
