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
export class ConfinedFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  /** Leads to this very folder, wherever it is moved. */
  readonly #way: string;
  /** For errors: from the working folder on. */
  readonly #shown: string;

  private constructor(handle: FileHandle, way: string | undefined, shown: string) {
    this.#handle = handle;
    this.#way = way ?? `/proc/self/fd/${handle.fd}`;
    this.#shown = shown;
  }

  /**
   * Opens a folder of the host.
   * @param unsandboxed works also where the system has no /proc: there, links on the way are seen, but not those that are
   * put there at that very moment.
   */
  static async open(
    folder: string,
    { unsandboxed = false }: { readonly unsandboxed?: boolean } = {},
  ): Promise<ConfinedFolder> {
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
    return new ConfinedFolder(handle, confines ? undefined : path, '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  /** The folder at the end of a way, each name opened from the one before. With `create`, missing ones are made. */
  async descend(
    parts: readonly string[],
    { create = false }: { readonly create?: boolean } = {},
  ): Promise<ConfinedFolder> {
    let folder = await this.#again();
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
  ): Promise<ConfinedFolder> {
    const way = this.#to(name);
    const shown = this.#name(name);
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const made = create && (await isMade(way));
    const handle = await this.#told(name, () => open(way, flags));
    const child = new ConfinedFolder(handle, this.#isHeld() ? undefined : way, shown);
    if (made) await this.#giveAway(handle);
    return child;
  }

  /** What is in it, by name. Links are told as links. */
  async entries(): Promise<readonly Dirent[]> {
    const all = await readdir(this.#way, { withFileTypes: true });
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** What a name stands for: a link is a link. Undefined when it stands for nothing. */
  async stat(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.#to(name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#failure(name, error);
    }
  }

  /**
   * Reads a file of at most `maxBytes`. What is not a file (a pipe, a device, a folder, a link) is refused unread, and so
   * is the file of a SQLite database that is open.
   */
  async read(name: string, maxBytes: number): Promise<ReadFile> {
    await this.#mustBeAtRest(name);
    // A pipe would else hold us until someone writes to it.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using handle = await this.#told(name, () => open(this.#to(name), flags));
    const identity = await handle.stat();
    if (!identity.isFile()) throw this.#notAFile(name);
    const tooLarge = new FileError(
      'file_too_large',
      this.#name(name),
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
        this.#name(name),
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
    await this.#mustBeAtRest(name);
    const temporary = `.petrichor-${crypto.randomUUID()}`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const mode = before === undefined ? 0o644 : before.mode & 0o777;
    try {
      await using handle = await this.#told(name, () => open(this.#to(temporary), flags, mode));
      await handle.chmod(mode);
      await this.#giveAway(handle);
      await handle.writeFile(bytes);
      if (expected !== undefined && !isSame(expected, await this.stat(name))) {
        throw new FileError(
          'file_changed',
          this.#name(name),
          'was changed meanwhile: read it again.',
        );
      }
      await this.#told(name, () => rename(this.#to(temporary), this.#to(name)));
    } catch (error) {
      await rm(this.#to(temporary), { force: true });
      throw error;
    }
  }

  /**
   * Refuses the file of a SQLite database that somebody has open. POSIX drops all locks that a process has on a file when
   * the process closes it, whoever in it opened it: to read the database of this very process would let another process
   * write into it at the same time.
   */
  async #mustBeAtRest(name: string): Promise<void> {
    const database = name.replace(/-(?:wal|shm|journal)$/, '');
    for (const suffix of ['-wal', '-shm', '-journal']) {
      if (!(await this.#isFile(`${database}${suffix}`)) || !(await this.#isFile(database)))
        continue;
      throw new FileError(
        'file_in_use',
        this.#name(name),
        'belongs to a SQLite database that is open: use a command of SQLite in a shell instead.',
      );
    }
  }

  async #isFile(name: string): Promise<boolean> {
    const found = await lstat(this.#to(name)).catch(() => undefined);
    return found?.isFile() === true;
  }

  async #again(): Promise<ConfinedFolder> {
    const handle = await open(this.#way, constants.O_RDONLY | constants.O_DIRECTORY);
    return new ConfinedFolder(handle, this.#isHeld() ? undefined : this.#way, this.#shown);
  }

  /** What root makes in somebody's folder is theirs: their commands must be able to change it. */
  async #giveAway(handle: FileHandle): Promise<void> {
    if (userInfo().uid !== 0) return;
    const { uid, gid } = await this.#handle.stat();
    await handle.chown(uid, gid);
  }

  #isHeld(): boolean {
    return this.#way.startsWith('/proc/self/fd/');
  }

  #to(name: string): string {
    if (name.includes('/') || name === '' || name === '..') {
      throw new FileError('path_refused', this.#name(name), 'is not one name.');
    }
    return `${this.#way}/${name}`;
  }

  #name(name: string): string {
    return this.#shown === '' ? name : `${this.#shown}/${name}`;
  }

  async #told<T>(name: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const link = await lstat(this.#to(name)).catch(() => undefined);
      throw link?.isSymbolicLink() === true
        ? new FileError('path_refused', this.#name(name), 'is a link, and links are not followed.')
        : this.#failure(name, error);
    }
  }

  #failure(name: string, cause: unknown): FileError {
    const path = this.#name(name);
    switch (codeOf(cause)) {
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
        return new FileError('file_failed', path, `failed: ${codeOf(cause)}.`, { cause });
    }
  }

  #notAFile(name: string): FileError {
    return new FileError('not_a_file', this.#name(name), 'is not a regular file.');
  }
}

async function isMade(way: string): Promise<boolean> {
  try {
    await mkdir(way, 0o755);
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
