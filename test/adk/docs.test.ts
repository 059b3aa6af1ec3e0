import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { findMissingProof, readPage, listTableRows } from '../docs/docs-tables.ts';

const root = join(import.meta.dirname, '..', '..');

/** The faults of a row: it names no test or program, or one that does not exist. */
function findFaults([what = '', , evidence = '']: readonly string[]): readonly string[] {
  if (!evidence.startsWith('later')) return findMissingProof(what, evidence);
  return /live/i.test(what) ? [] : [`${what}: may not be for later`];
}

describe('docs/conformance/adk.md', () => {
  const rows = listTableRows(readPage('docs/conformance/adk.md'));

  it('every row names a test or a program that exists', () => {
    assert.ok(rows.length > 100);
    assert.deepEqual(rows.flatMap(findFaults), []);
  });

  it('a row without evidence, with missing evidence, or with a forbidden "later" is a fault', () => {
    const file = 'test/adk/docs.test.ts';
    const createRow = (what: string, shown: string): readonly string[] => [what, '', shown];
    const title = 'a row without evidence';
    assert.deepEqual(findFaults(createRow('a', `[x](../../${file}) “${title}”`)), []);
    assert.deepEqual(findFaults(createRow('run_live (live)', 'later')), []);
    for (const broken of [
      createRow('a', ''),
      createRow('a', 'later'),
      createRow('a', `[x](../../${file})`),
      createRow('a', `[x](../../${file}) “is seen”`),
      createRow('a', `[x](../../${file}) “${['no', 'such', 'test'].join(' ')}”`),
      createRow('a', '[x](../../test/adk/gone.test.ts) “a”'),
    ])
      assert.equal(findFaults(broken).length, 1, broken.join());
  });
});

describe('the pages of the ADK API', () => {
  for (const path of globSync('docs/adk-*.md', { cwd: root }).toSorted()) {
    it(`${path} begins with the program of its example, byte for byte`, () => {
      const program = /^```ts\n(.*?)^```$/ms.exec(readPage(path))?.[1];
      assert.equal(program, readPage(`examples/${basename(path, '.md')}.ts`));
    });
  }

  it('docs/adk.md links to every page', () => {
    const page = readPage('docs/adk.md');
    for (const path of globSync('docs/adk-*.md', { cwd: root }))
      assert.ok(page.includes(`](${basename(path)})`), path);
  });
});
