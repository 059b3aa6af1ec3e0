/**
 * Folders and their missing parents. In a file system that refuses new folders with ENOENT, as `/proc` does, `mkdir` of
 * Node with `recursive` tries forever. So the topmost missing folder is created first, without `recursive`.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { getErrorCode } from '../core/internal.ts';

/**
 * Creates a folder and its missing parents. A folder that exists stays as it is.
 * @param mode the permissions of each new folder
 * @throws Error of the system when a folder cannot be created, or when the path is that of a file
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  const topmost = findTopmostMissing(path);
  if (topmost !== undefined)
    await mkdir(topmost, { mode }).catch((error: unknown) => throwUnlessChanged(error, topmost));
  await mkdir(path, { recursive: true, mode });
}

/** `makeFolder` that blocks the thread. */
export function makeFolderSync(path: string, mode: number): void {
  const topmost = findTopmostMissing(path);
  try {
    if (topmost !== undefined) mkdirSync(topmost, { mode });
  } catch (error) {
    throwUnlessChanged(error, topmost ?? path);
  }
  mkdirSync(path, { recursive: true, mode });
}

function findTopmostMissing(path: string): string | undefined {
  let topmost: string | undefined;
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) {
    // The root of a drive that is not there.
    if (folder === topmost) break;
    topmost = folder;
  }
  return topmost;
}

/** Another process may have created the folder meanwhile, or removed its parent. */
function throwUnlessChanged(error: unknown, folder: string): void {
  const code = getErrorCode(error);
  if (code === 'EEXIST') return;
  if (code === 'ENOENT' && !existsSync(dirname(folder))) return;
  throw error;
}
