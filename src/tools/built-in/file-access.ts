import { FOLDER_INSIDE } from '../sandbox/bubblewrap-args.ts';
import type { ToolContext } from '../tool-context.ts';
import { ConfinedFolder } from './confined-folder.ts';
import { environmentOf, type EnvironmentSource } from './environment.ts';
import { FileError } from './file-error.ts';
import { pathParts } from './path-parts.ts';

/** Which folder the file tools work in, and under which path models know it. */
export interface FileAccessOptions {
  readonly environment: EnvironmentSource;
  /** How commands see the folder, so that their paths can be used here; `/workspace` unless said. */
  readonly seenAs?: string;
  /** Works also where the system cannot hold off links that are put on the way at the very moment. */
  readonly unsandboxed?: boolean;
}

/** A file, or what may become one: its folder, held open, and its name there. */
export interface Spot {
  readonly folder: ConfinedFolder;
  readonly name: string;
  /** From the working folder on. */
  readonly path: string;
}

/** Opens what a model names, inside the working folder of its session. All it opens is closed when `use` has settled. */
export class FileAccess {
  readonly #options: FileAccessOptions;
  /** The last change of each file that is being changed now. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(options: FileAccessOptions) {
    this.#options = options;
  }

  /** @throws FileError */
  async atFolder<T>(
    path: string,
    context: ToolContext,
    use: (folder: ConfinedFolder) => Promise<T>,
  ): Promise<T> {
    await using root = await this.#open(context);
    await using folder = await root.descend(this.#parts(path));
    return await use(folder);
  }

  /** @throws FileError */
  async atFile<T>(path: string, context: ToolContext, use: (spot: Spot) => Promise<T>): Promise<T> {
    return this.#atFile(path, context, use, false);
  }

  /**
   * The same, to change the file: one change after the other, so that calls made at once do not lose each other's. With
   * `create`, missing folders on the way are made.
   * @throws FileError
   */
  async toChange<T>(
    path: string,
    context: ToolContext,
    use: (spot: Spot) => Promise<T>,
    { create = false }: { readonly create?: boolean } = {},
  ): Promise<T> {
    const { folder } = await environmentOf(this.#options.environment, context.sessionKey);
    const key = `${folder}\0${this.normal(path)}`;
    const change = async (): Promise<T> => this.#atFile(path, context, use, create);
    const mine = (this.#changes.get(key) ?? Promise.resolve()).then(change, change);
    this.#changes.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#changes.get(key) === mine) this.#changes.delete(key);
    }
  }

  /** The names of a path from the working folder on, joined. @throws FileError */
  normal(path: string): string {
    return this.#parts(path).join('/');
  }

  async #atFile<T>(
    path: string,
    context: ToolContext,
    use: (spot: Spot) => Promise<T>,
    create: boolean,
  ): Promise<T> {
    const parts = this.#parts(path);
    const name = parts.at(-1);
    if (name === undefined) throw new FileError('not_a_file', path, 'is the working folder.');
    await using root = await this.#open(context);
    await using folder = await root.descend(parts.slice(0, -1), { create });
    return await use({ folder, name, path: parts.join('/') });
  }

  #parts(path: string): readonly string[] {
    return pathParts(path, this.#options.seenAs ?? FOLDER_INSIDE);
  }

  async #open({ sessionKey, signal }: ToolContext): Promise<ConfinedFolder> {
    const { environment, unsandboxed = false } = this.#options;
    const { folder } = await environmentOf(environment, sessionKey);
    signal.throwIfAborted();
    return ConfinedFolder.open(folder, { unsandboxed });
  }
}
