import type { WorkspaceFolder } from './workspace-folder.ts';
import { FileError } from './file-error.ts';

/**
 * A file below a folder, with its open folder. The folder is closed when the next file is
 * requested.
 */
export interface WalkedFile {
  readonly path: string;
  readonly name: string;
  readonly folder: WorkspaceFolder;
}

const MAX_DEPTH = 64;

/**
 * Yields all files below a folder, depth first, in the order of their paths. Links are skipped, and
 * so are folders that cannot be opened or disappear.
 */
export async function* walkFolder(
  folder: WorkspaceFolder,
  signal: AbortSignal,
  prefix = '',
  depth = 0,
): AsyncGenerator<WalkedFile, void> {
  for (const entry of await folder.entries()) {
    signal.throwIfAborted();
    const path = prefix + entry.name;
    if (entry.isFile()) yield { path, name: entry.name, folder };
    if (!entry.isDirectory() || depth === MAX_DEPTH) continue;
    const child = await openChild(folder, entry.name);
    if (child === undefined) continue;
    try {
      yield* walkFolder(child, signal, `${path}/`, depth + 1);
    } finally {
      await child[Symbol.asyncDispose]();
    }
  }
}

async function openChild(
  folder: WorkspaceFolder,
  name: string,
): Promise<WorkspaceFolder | undefined> {
  try {
    return await folder.child(name);
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
