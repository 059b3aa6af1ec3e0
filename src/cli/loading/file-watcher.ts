import { statSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';

/** An editor writes a file in several steps. */
const SETTLED_MS = 100;

/**
 * Watches files, and calls `onChange` once after they changed. It watches their folders, because an editor may replace a
 * file instead of writing it.
 */
export class FileWatcher {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, FSWatcher>();
  #cancel = (): void => {};

  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /**
   * Adds a file, unless it belongs to a package.
   * @param since a time before the file was read, in milliseconds. A change after it counts, because it may have come
   * before this call.
   */
  add(file: string, since: number): void {
    if (file.includes(`${sep}node_modules${sep}`) || this.#files.has(file)) return;
    this.#files.add(file);
    this.#watchFolder(file);
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined || status.mtimeMs > since) this.#schedule();
  }

  #watchFolder(file: string): void {
    const folder = dirname(file);
    if (this.#folders.has(folder)) return;
    const watcher = watch(folder, (_, name) => {
      // Some systems do not name the file.
      if (name === null || this.#files.has(join(folder, basename(name)))) this.#schedule();
    });
    // A folder that is removed has no changes any more.
    watcher.on('error', () => {});
    this.#folders.set(folder, watcher);
  }

  close(): void {
    this.#cancel();
    for (const watcher of this.#folders.values()) watcher.close();
  }

  #schedule(): void {
    this.#cancel();
    this.#cancel = this.#clock.at(this.#clock.now() + SETTLED_MS, this.#onChange);
  }
}

/** With these variables Node reports each module that it loads to the process that forked it. */
export const REPORT_FILES: Readonly<Record<string, string>> = { WATCH_REPORT_DEPENDENCIES: '1' };

/** The files in a message of a forked process with `REPORT_FILES`. */
export function listReportedFiles(message: unknown): readonly string[] {
  if (!isJsonObject(message)) return [];
  return [message['watch:import'], message['watch:require']].flat().flatMap((file) => {
    if (typeof file !== 'string') return [];
    if (file.startsWith('file:')) return fileURLToPath(file);
    return file.includes(':') ? [] : file;
  });
}
