import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'docs', 'comparison.md');
const BEGIN = '<!-- generated: npm run bench --prefix bench/peers -- --write -->';
const END = '<!-- end of generated -->';

/** Puts the tables between the marks of the page. @throws Error without the marks */
export function writeTables(report: string): void {
  const text = readFileSync(page, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${page} has no "${BEGIN}" … "${END}".`);
  const before = text.slice(0, begin + BEGIN.length);
  writeFileSync(page, `${before}\n\n${report}\n\n${text.slice(end)}`);
  execFileSync(join(root, 'node_modules', '.bin', 'oxfmt'), [page]);
}
