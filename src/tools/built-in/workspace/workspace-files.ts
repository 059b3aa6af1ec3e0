import { FOLDER_INSIDE } from '../../sandbox/bubblewrap-args.ts';
import type { ToolContext } from '../../tool/tool-context.ts';
import { WorkspaceFolder } from './workspace-folder.ts';
import { resolveEnvironment, type ToolEnvironmentSource } from './tool-environment.ts';
import { FileError } from './file-error.ts';
import { pathParts } from './path-parts.ts';

/** Options of the file tools. */
export interface WorkspaceFilesOptions {
  readonly environment: ToolEnvironmentSource;
  /**
   * The path under which commands see the folder, so that their paths work here, too. Default:
   * `/workspace`.
   */
  readonly mountPath?: string;
  /**
   * Allows systems where a link that is created during a call cannot be detected. Default: false.
   */
  readonly unsandboxed?: boolean;
}

/** An existing or future file: its open folder and its name there. */
export interface FileLocation {
  readonly folder: WorkspaceFolder;
  readonly name: string;
  /** Relative to the working folder. */
  readonly path: string;
}

/**
 * Opens files and folders that a model names, inside the working folder of its session. Everything
 * it opens is closed when `use` has settled.
 */
export class WorkspaceFiles {
  readonly #options: WorkspaceFilesOptions;
  /** The last pending change of each file. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(options: WorkspaceFilesOptions) {
    this.#options = options;
  }

  /**
   * Opens a folder for `use`.
   * @throws FileError
   */
  async withFolder<T>(
    path: string,
    context: ToolContext,
    use: (folder: WorkspaceFolder) => Promise<T>,
  ): Promise<T> {
    await using root = await this.#open(context);
    await using folder = await root.descend(this.#parts(path));
    return await use(folder);
  }

  /**
   * Opens the folder of a file for `use`.
   * @throws FileError
   */
  async withFile<T>(
    path: string,
    context: ToolContext,
    use: (location: FileLocation) => Promise<T>,
  ): Promise<T> {
    return this.#withFile(path, context, use, false);
  }

  /**
   * Like `withFile`, for changing the file. Changes of one file run one after the other, so
   * concurrent calls do not overwrite each other. With `create`, missing folders on the way are
   * created.
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

  /**
   * A path in normal form, relative to the working folder.
   * @throws FileError
   */
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
