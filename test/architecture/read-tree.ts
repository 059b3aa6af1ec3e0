import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeFile } from './module-facts.ts';

const notOurs: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  'dist',
  'coverage',
  '.pages',
  '.cache',
]);
const notText = /\.(?:png|jpg|gif|ico|woff2?|db|db-wal|db-shm|sqlite|tgz)$/;

/** Every text file of the repository, whether committed yet or not. */
export function readTree(root: string, folder: string = ''): readonly TreeFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (notOurs.has(entry.name)) return [];
    if (entry.isDirectory()) return readTree(root, path);
    if (!entry.isFile() || notText.test(path)) return [];
    return [{ path, text: readFileSync(join(root, path), 'utf8') }];
  });
}
