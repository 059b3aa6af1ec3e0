import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { listTestFiles } from '../../scripts/test-files.ts';
import { readPage } from './docs-tables.ts';

const folder = join(import.meta.dirname, '..', '..', 'examples', 'testing');
const files = globSync('*.ts', { cwd: folder }).toSorted();

/** The text without indentation: the formatter moves an excerpt to the left. */
const trimLines = (text: string): string => text.replaceAll(/^ +/gm, '');

/** The programs of a page that are not a part of one of the sources, indentation aside. */
function findForeignPrograms(page: string, sources: readonly string[]): readonly string[] {
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)]
    .map(([, program = '']) => program)
    .filter((program) => !sources.some((source) => trimLines(source).includes(trimLines(program))));
}

describe('docs/testing.md', () => {
  const page = readPage('docs/testing.md');
  const sources = files.map((file) => readFileSync(join(folder, file), 'utf8'));

  it('has only programs that are part of a file in examples/testing/', () => {
    assert.ok(page.includes('```ts\n'));
    assert.deepEqual(findForeignPrograms(page, sources), []);
  });

  it('a program that differs by one byte is seen', () => {
    const program = '```ts\nrun();\n```\n';
    assert.deepEqual(findForeignPrograms(program, ['a();\n  run();\nb();\n']), []);
    assert.deepEqual(findForeignPrograms(program, ['a();\nrun( );\nb();\n']), ['run();\n']);
  });

  it('links every file in examples/testing/', () => {
    assert.deepEqual(
      files.filter((file) => !page.includes(`](../examples/testing/${file})`)),
      [],
    );
  });

  it('has programs that `npm test` runs', () => {
    const tests = files.filter((name) => name.endsWith('.test.ts'));
    assert.ok(tests.length > 5);
    const run = listTestFiles();
    for (const file of tests) assert.ok(run.includes(`examples/testing/${file}`), file);
  });
});
