import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getErrorCode } from '../core/internal.ts';

/** A parent may be removed while its child is created. Then all of them are created again. */
const ATTEMPTS = 5;

/**
 * Creates a folder and its missing parents, one by one, and blocks the thread meanwhile. A folder that exists stays as
 * it is. In a file system that refuses new folders with ENOENT, as `/proc` does, `mkdir` of Node with `recursive` tries
 * forever.
 * @param mode the permissions of each new folder
 * @throws Error of the system when a folder cannot be created, or when the path is that of a file
 */
export function makeFolder(path: string, mode: number): void {
  for (let attempt = 1; ; attempt++)
    try {
      for (const folder of listMissing(path)) makeOne(folder, mode);
      return;
    } catch (error) {
      if (getErrorCode(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
}

/** Another process may have created the folder meanwhile. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}

/** The folders to create, parents first. The path itself is one of them also if it is a file. */
function listMissing(path: string): readonly string[] {
  const whole = resolve(path);
  if (isFolder(whole)) return [];
  const missing = [whole];
  for (let folder = dirname(whole); !existsSync(folder); folder = dirname(folder)) {
    // The root of a drive that is not there.
    if (folder === dirname(folder)) break;
    missing.unshift(folder);
  }
  return missing;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
