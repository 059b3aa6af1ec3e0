import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export const readPage = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The cells of each row of the page's tables, heads left out. */
export function listTableRows(page: string): readonly (readonly string[])[] {
  const lines = page.split('\n').filter((line) => line.startsWith('|'));
  return lines
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
    .filter(([first = ''], index) => {
      const next = lines[index + 1] ?? '';
      return !/^:?-+:?$/.test(first) && !/^\| *:?-+/.test(next);
    });
}

/** What is wrong with a row whose last cell should link to tests by title, or to examples. */
export function findMissingProof(what: string, shown: string): readonly string[] {
  const links = [...shown.matchAll(/\]\((?:\.\.\/)+([^)]+)\)(?: “([^”]+)”)?/g)];
  if (links.length === 0) return [`${what}: nothing shows it`];
  return links.flatMap(([, path = '', title]) => {
    if (!existsSync(join(root, path))) return [`${what}: there is no ${path}`];
    if (title === undefined)
      return path.startsWith('examples/') ? [] : [`${what}: names no test of ${path}`];
    return hasTest(readPage(path), title) ? [] : [`${what}: ${path} has no test “${title}”`];
  });
}

/** A test, a group of them, or a case of a contract whose title begins so. */
function hasTest(source: string, title: string): boolean {
  return source
    .split(title)
    .slice(0, -1)
    .some((before) => /(?:\b(?:it|test|describe)\(\s*|\bname: )['"`]$/.test(before));
}
