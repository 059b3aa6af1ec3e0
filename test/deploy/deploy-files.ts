import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root: string = join(import.meta.dirname, '..', '..');
export const deploy: string = join(root, 'deploy');

export function readDeploy(file: string): string {
  return readFileSync(join(deploy, file), 'utf8');
}

/** Whether a program is installed. */
export function has(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}
