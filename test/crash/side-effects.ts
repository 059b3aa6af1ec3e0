import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Effect } from './host-messages.ts';

/** Writes the effects of tools to a file. Each line is on the disk before the tool continues. */
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

/** Reads the effects written so far, without an incomplete last line. */
export function readSideEffects(path: string): readonly Effect[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): Effect => JSON.parse(line));
}
