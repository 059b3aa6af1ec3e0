import { FOLDER_INSIDE } from '../../sandbox/bubblewrap-args.ts';
import type { ToolContext } from '../../tool/tool-context.ts';
import { WorkspaceFolder } from './workspace-folder.ts';
import { resolveEnvironment, type ToolEnvironmentSource } from './tool-environment.ts';
import { FileError } from './file-error.ts';
import { pathParts } from './path-parts.ts';

/** Which folder the file tools work in, and under which path models know it. */
export interface WorkspaceFilesOptions {
  readonly environment: ToolEnvironmentSource;
  /** How commands see the folder, so that their paths can be used here; `/workspace` unless said. */
  readonly mountPath?: string;
  /** Works also where the system cannot hold off links that are put on the way at the very moment. */
  readonly unsandboxed?: boolean;
}

/** A file, or what may become one: its folder, held open, and its name there. */
export interface FileLocation {
  readonly folder: WorkspaceFolder;
  readonly name: string;
  /** From the working folder on. */
  readonly path: string;
}

/** Opens what a model names, inside the working folder of its session. All it opens is closed when `use` has settled. */
export class WorkspaceFiles {
  readonly #options: WorkspaceFilesOptions;
  /** The last change of each file that is being changed now. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(options: WorkspaceFilesOptions) {
    this.#options = options;
  }

  /** @throws FileError */
  async withFolder<T>(
    path: string,
    context: ToolContext,
    use: (folder: WorkspaceFolder) => Promise<T>,
  ): Promise<T> {
    await using root = await this.#open(context);
    await using folder = await root.descend(this.#parts(path));
    return await use(folder);
  }

  /** @throws FileError */
  async withFile<T>(
    path: string,
    context: ToolContext,
    use: (location: FileLocation) => Promise<T>,
  ): Promise<T> {
    return this.#withFile(path, context, use, false);
  }

  /**
   * The same, to change the file: one change after the other, so that calls made at once do not lose each other's. With
   * `create`, missing folders on the way are made.
   * @throws FileError
   */
  async changeFile<T>(
    path: string,
    context: ToolContext,
    use: (location: FileLocation) => Promise<T>,
    { create = false }: { readonly create?: boolean } = {},
  ): Promise<T> {
    const { folder } = await resolveEnvironment(this.#options.environment, context.sessionKey);
    const key = `${folder}\0${this.normalizePath(path)}`;
    const change = async (): Promise<T> => this.#withFile(path, context, use, create);
    const queued = (this.#changes.get(key) ?? Promise.resolve()).then(change, change);
    this.#changes.set(key, queued);
    try {
      return await queued;
    } finally {
      if (this.#changes.get(key) === queued) this.#changes.delete(key);
    }
  }

  /** The names of a path from the working folder on, joined. @throws FileError */
  normalizePath(path: string): string {
    return this.#parts(path).join('/');
  }

  async #withFile<T>(
    path: string,
    context: ToolContext,
    use: (location: FileLocation) => Promise<T>,
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
    return pathParts(path, this.#options.mountPath ?? FOLDER_INSIDE);
  }

  async #open({ sessionKey, signal }: ToolContext): Promise<WorkspaceFolder> {
    const { environment, unsandboxed = false } = this.#options;
    const { folder } = await resolveEnvironment(environment, sessionKey);
    signal.throwIfAborted();
    return WorkspaceFolder.open(folder, { unsandboxed });
  }
}
