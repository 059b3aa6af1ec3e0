import { readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage']);

/** A folder that tools may read, and nothing outside it: no absolute path, no `..`, no link that leads out. */
export class Folder {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async at(path: string): Promise<Folder> {
    return new Folder(await realpath(path));
  }

  /** Where `path` really is. @throws Error when that is not in this folder. */
  async inside(path: string): Promise<string> {
    if (isAbsolute(path) || path.split(/[/\\]/).includes('..')) throw outside(path);
    const real = await realpath(resolve(this.root, path));
    if (real !== this.root && !real.startsWith(this.root + sep)) throw outside(path);
    return real;
  }

  /** The text files under `path`, as paths in this folder, in order. Links are not followed. */
  async textFiles(path: string): Promise<readonly string[]> {
    const entries = await readdir(await this.inside(path), {
      recursive: true,
      withFileTypes: true,
    });
    return entries
      .filter((entry) => entry.isFile() && /\.(?:md|ts|json)$/.test(entry.name))
      .map((entry) => relative(this.root, join(entry.parentPath, entry.name)))
      .filter((file) => !file.split(sep).some((name) => name.startsWith('.') || SKIPPED.has(name)))
      .toSorted();
  }
}

function outside(path: string): Error {
  return new Error(`"${path}" is outside the folder this agent may read.`);
}
