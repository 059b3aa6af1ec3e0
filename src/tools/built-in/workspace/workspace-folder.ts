import { getErrorCode } from '../../../core/internal.ts';
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

/** Identifies the version of a file that was read, so that another version is not overwritten. */
export type FileIdentity = Pick<Stats, 'ino' | 'dev' | 'size' | 'mtimeMs'>;

export interface ReadFile {
  readonly bytes: Buffer;
  readonly identity: FileIdentity;
}

/**
 * A folder held open by its handle, so that it cannot be replaced. Methods take single names and
 * never follow a link: check and use are one step, even if someone renames or links concurrently.
 */
export class WorkspaceFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  /** Leads to this very folder, wherever it is moved. */
  readonly #handlePath: string;
  /** For errors: relative to the working folder. */
  readonly #displayPath: string;

  private constructor(handle: FileHandle, handlePath: string | undefined, displayPath: string) {
    this.#handle = handle;
    this.#handlePath = handlePath ?? `/proc/self/fd/${handle.fd}`;
    this.#displayPath = displayPath;
  }

  /**
   * Opens a folder of the host.
   * @param unsandboxed allows a system without /proc. There, existing links are detected, but not
   *   links that are created during the call.
   * @throws FileError on a system without /proc, unless `unsandboxed` is set
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
        'this system has no /proc/self/fd, which is needed to reject links safely. Set unsandboxed: true to work without it.',
      );
    }
    const path = await realpath(folder);
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    return new WorkspaceFolder(handle, confines ? undefined : path, '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /**
   * Opens a folder by a list of names, each from the folder before it. With `create`, missing
   * folders are created.
   */
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
    const isNew = create && (await tryMkdir(childPath));
    const handle = await this.#refuseLinks(name, () => open(childPath, flags));
    const child = new WorkspaceFolder(
      handle,
      this.#isOpenHandle() ? undefined : childPath,
      displayPath,
    );
    if (isNew) await this.#matchOwner(handle);
    return child;
  }

  /** The entries sorted by name. A link is listed as a link. */
  async entries(): Promise<readonly Dirent[]> {
    const all = await readdir(this.#handlePath, { withFileTypes: true });
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The status of an entry, without following a link; undefined if it does not exist. */
  async stat(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.#pathTo(name));
    } catch (error) {
      if (getErrorCode(error) === 'ENOENT') return undefined;
      throw this.#failure(name, error);
    }
  }

  /**
   * Reads a file of at most `maxBytes`. Anything that is not a regular file (a pipe, a device, a
   * folder, a link) is rejected unread, and so is a file of an open SQLite database.
   */
  async read(name: string, maxBytes: number): Promise<ReadFile> {
    await this.#assertNotOpenDatabase(name);
    // Without O_NONBLOCK, opening a pipe would block until someone writes to it.
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
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      ({ bytesRead: count } = await handle.read(buffer, length, buffer.length - length));
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
   * Writes a file atomically: no reader sees a partial file. With `expected`, only if the file has
   * not changed since it was read. If this process is root, the file belongs to the owner of the
   * folder.
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
          'was changed concurrently: read it again.',
        );
      }
      await this.#refuseLinks(name, () => rename(this.#pathTo(temporary), this.#pathTo(name)));
    } catch (error) {
      await rm(this.#pathTo(temporary), { force: true });
      throw error;
    }
  }

  /**
   * Rejects the files of a SQLite database that is open. POSIX drops all locks that a process has
   * on a file when the process closes any handle of it. Reading the database of this very process
   * would therefore let another process write to it at the same time.
   */
  async #assertNotOpenDatabase(name: string): Promise<void> {
    const database = name.replace(/-(?:wal|shm|journal)$/, '');
    for (const suffix of ['-wal', '-shm', '-journal']) {
      if (!(await this.#isFile(`${database}${suffix}`)) || !(await this.#isFile(database)))
        continue;
      throw new FileError(
        'file_in_use',
        this.#displayName(name),
        'belongs to an open SQLite database: use a sqlite3 command in a shell instead.',
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

  /**
   * Gives an entry that root created to the owner of the folder, whose commands must be able to
   * change it.
   */
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
      throw new FileError('path_refused', this.#displayName(name), 'is not a single name.');
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
    const code = getErrorCode(cause);
    switch (code) {
      case 'ENOENT':
        return new FileError('file_not_found', path, 'does not exist.');
      case 'ENOTDIR':
        return new FileError('not_a_folder', path, 'is not a folder.');
      case 'EISDIR':
      case 'ENXIO':
        return this.#notAFile(name);
      case 'EACCES':
      case 'EPERM':
        return new FileError('file_failed', path, 'permission denied.', { cause });
      default:
        // The message of the system would reveal a path of the host.
        return new FileError('file_failed', path, `failed: ${code ?? 'unknown'}.`, { cause });
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
    // Opening the name reports what is there instead, and why it cannot be used.
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
