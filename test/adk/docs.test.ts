import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { findMissingProof, readPage, listTableRows } from '../docs/docs-tables.ts';

const root = join(import.meta.dirname, '..', '..');

/** The faults of a row: it names no evidence, or evidence that does not exist. */
function findFaults([what = '', , shown = '']: readonly string[]): readonly string[] {
  if (!shown.startsWith('later')) return findMissingProof(what, shown);
  return /live|vertex|mysql|spanner/i.test(what) ? [] : [`${what}: may not be for later`];
}

describe('docs/conformance/adk.md', () => {
  const rows = listTableRows(readPage('docs/conformance/adk.md'));

  it('names for every row a test or a program that is there', () => {
    assert.ok(rows.length > 100);
    assert.deepEqual(rows.flatMap(findFaults), []);
  });

  it('a row that names nothing, or what is not there, or puts off what it may not, is seen', () => {
    const file = 'test/adk/docs.test.ts';
    const row = (what: string, shown: string): readonly string[] => [what, '', shown];
    const title = 'a row that names nothing';
    assert.deepEqual(findFaults(row('a', `[x](../../${file}) “${title}”`)), []);
    assert.deepEqual(findFaults(row('run_live (live)', 'later')), []);
    for (const broken of [
      row('a', ''),
      row('a', 'later'),
      row('a', `[x](../../${file})`),
      row('a', `[x](../../${file}) “is seen”`),
      row('a', `[x](../../${file}) “${['no', 'such', 'test'].join(' ')}”`),
      row('a', '[x](../../test/adk/gone.test.ts) “a”'),
    ])
      assert.equal(findFaults(broken).length, 1, broken.join());
  });
});

describe('the pages of the ADK face', () => {
  for (const path of globSync('docs/adk-*.md', { cwd: root }).toSorted()) {
    it(`${path} begins with a program that is an example, byte for byte`, () => {
      const program = /^```ts\n(.*?)^```$/ms.exec(readPage(path))?.[1];
      assert.equal(program, readPage(`examples/${basename(path, '.md')}.ts`));
    });
  }

  it('are all named by docs/adk.md', () => {
    const page = readPage('docs/adk.md');
    for (const path of globSync('docs/adk-*.md', { cwd: root }))
      assert.ok(page.includes(`](${basename(path)})`), path);
  });
});
