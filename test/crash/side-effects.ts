import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Effect } from './host-messages.ts';

/** Notes what tools do in a file of its own, each line on the disk before the tool goes on. */
export class SideEffects {
  readonly #file: number;
  readonly #run: number;

  constructor(path: string, run: number) {
    this.#file = openSync(path, 'a');
    this.#run = run;
  }

  note(effect: Omit<Effect, 'run'>): void {
    writeSync(this.#file, `${JSON.stringify({ ...effect, run: this.#run })}\n`);
    fsyncSync(this.#file);
  }
}

/** What has been noted so far; nothing of a line that was not written whole. */
export function readSideEffects(path: string): readonly Effect[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): Effect => JSON.parse(line));
}
