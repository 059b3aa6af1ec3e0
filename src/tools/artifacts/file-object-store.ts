import { makeFolder } from '../../files/internal.ts';
import { getErrorCode } from '../../core/internal.ts';
import { undefinedIfMissing } from './undefined-if-missing.ts';
import { mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ObjectStore, StoredObject } from './object-store.ts';

const ABOUT = 'about.json';
const CONTENT = 'content';
const TEMPORARY = '.new-';
const TEMPORARY_ATTEMPTS = 3;

/** Stores each object as a folder with two files: `content` and `about.json`. */
export class FileObjectStore implements ObjectStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = resolve(root);
  }

  async create(path: string, { bytes, contentType, about }: StoredObject): Promise<boolean> {
    const folder = join(this.#root, path);
    const parent = dirname(folder);
    // The folder is filled under a temporary name and then renamed: readers never see a partial
    // object, and of two concurrent writers the second finds the name taken.
    const temporary = await makeTemporary(parent);
    try {
      await write(join(temporary, CONTENT), bytes);
      await write(join(temporary, ABOUT), Buffer.from(JSON.stringify({ contentType, about })));
      await rename(temporary, folder);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EPERM') && (await this.about(path)) !== undefined)
        return false;
      throw error;
    }
    await sync(parent);
    return true;
  }

  async read(path: string): Promise<StoredObject | undefined> {
    const described = await this.#described(path);
    if (described === undefined) return undefined;
    const bytes = await undefinedIfMissing(
      () => readFile(join(this.#root, path, CONTENT)),
      isMissing,
    );
    return bytes && { ...described, bytes };
  }

  async about(path: string): Promise<string | undefined> {
    return (await this.#described(path))?.about;
  }

  async list(folder: string): Promise<readonly string[]> {
    const names = await this.#in(folder);
    // An unfinished `create` leaves an empty folder.
    const contents = await Promise.all(names.map(async (name) => this.#in(join(folder, name))));
    return names.filter((_, index) => contents[index]?.length !== 0);
  }

  async countBytes(folder: string): Promise<number> {
    const entries = await undefinedIfMissing(
      () => readdir(join(this.#root, folder), { recursive: true, withFileTypes: true }),
      isMissing,
    );
    let bytes = 0;
    for (const entry of entries ?? []) {
      if (!entry.isFile() || entry.name !== CONTENT) continue;
      // A file can be removed meanwhile.
      const path = join(entry.parentPath, entry.name);
      bytes += (await undefinedIfMissing(() => stat(path), isMissing))?.size ?? 0;
    }
    return bytes;
  }

  async remove(folder: string): Promise<void> {
    await rm(join(this.#root, folder), { recursive: true, force: true });
  }

  getUri(path: string): string {
    return pathToFileURL(join(this.#root, path, CONTENT)).href;
  }

  async #in(folder: string): Promise<readonly string[]> {
    const names =
      (await undefinedIfMissing(() => readdir(join(this.#root, folder)), isMissing)) ?? [];
    return names.filter((name) => !name.startsWith(TEMPORARY));
  }

  async #described(path: string): Promise<Omit<StoredObject, 'bytes'> | undefined> {
    const text = await undefinedIfMissing(
      () => readFile(join(this.#root, path, ABOUT), 'utf8'),
      isMissing,
    );
    if (text === undefined) return undefined;
    const described: Omit<StoredObject, 'bytes'> = JSON.parse(text);
    return described;
  }
}

/** Creates a folder in `parent`, which a concurrent deletion may remove while it is empty. */
async function makeTemporary(parent: string): Promise<string> {
  for (let attempt = 1; ; attempt++)
    try {
      return await mkdtemp(join(parent, TEMPORARY));
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === TEMPORARY_ATTEMPTS) throw error;
      makeFolder(parent, 0o700);
    }
}

async function write(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Flushes the folder, so that a renamed entry is durable. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  // Some systems cannot open folders. There the rename is as durable as the system makes it.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR');
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(getErrorCode(error) ?? '');
}
