import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The cells of each row of the page's tables, heads left out. */
function rowsOf(page: string): readonly (readonly string[])[] {
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

/** What is wrong with a row: it names nothing that shows it, or something that is not there. */
function faultsOf([what = '', , shown = '']: readonly string[]): readonly string[] {
  const links = [...shown.matchAll(/\]\(\.\.\/([^)]+)\)(?: “([^”]+)”)?/g)];
  const isLater = shown.startsWith('later');
  if (isLater && !/live|vertex|mysql|spanner/i.test(what)) return [`${what}: may not be for later`];
  if (links.length === 0 && !isLater) return [`${what}: nothing shows it`];
  return links.flatMap(([, path = '', title]) => {
    if (!existsSync(join(root, path))) return [`${what}: there is no ${path}`];
    if (title === undefined)
      return path.startsWith('examples/') ? [] : [`${what}: names no test of ${path}`];
    return hasTest(read(path), title) ? [] : [`${what}: ${path} has no test “${title}”`];
  });
}

/** A test, a group of them, or a case of a contract whose title begins so. */
function hasTest(source: string, title: string): boolean {
  return source
    .split(title)
    .slice(0, -1)
    .some((before) => /(?:\b(?:it|test|describe)\(\s*|\bname: )['"`]$/.test(before));
}

describe('docs/adk.md', () => {
  const rows = rowsOf(read('docs/adk.md'));

  it('names for every row a test or a program that is there', () => {
    assert.ok(rows.length > 100);
    assert.deepEqual(rows.flatMap(faultsOf), []);
  });

  it('a row that names nothing, or what is not there, or puts off what it may not, is seen', () => {
    const file = 'test/adk/docs.test.ts';
    const row = (what: string, shown: string): readonly string[] => [what, '', shown];
    const title = 'a row that names nothing';
    assert.deepEqual(faultsOf(row('a', `[x](../${file}) “${title}”`)), []);
    assert.deepEqual(faultsOf(row('run_live (live)', 'later')), []);
    for (const broken of [
      row('a', ''),
      row('a', 'later'),
      row('a', `[x](../${file})`),
      row('a', `[x](../${file}) “is seen”`),
      row('a', `[x](../${file}) “${['no', 'such', 'test'].join(' ')}”`),
      row('a', '[x](../test/adk/gone.test.ts) “a”'),
    ])
      assert.equal(faultsOf(broken).length, 1, broken.join());
  });
});

describe('the pages of the ADK face', () => {
  for (const path of globSync('docs/adk-*.md', { cwd: root }).toSorted()) {
    it(`${path} begins with a program that is an example, byte for byte`, () => {
      const program = /^```ts\n(.*?)^```$/ms.exec(read(path))?.[1];
      assert.equal(program, read(`examples/${basename(path, '.md')}.ts`));
    });
  }

  it('are all named by docs/adk.md', () => {
    const page = read('docs/adk.md');
    for (const path of globSync('docs/adk-*.md', { cwd: root }))
      assert.ok(page.includes(`](${basename(path)})`), path);
  });
});
