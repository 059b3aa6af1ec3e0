import assert from 'node:assert/strict';
import { test } from 'node:test';
import { globPattern } from './glob-pattern.ts';
import { linePattern } from './line-pattern.ts';

const cases: readonly (readonly [glob: string, yes: readonly string[], no: readonly string[]])[] = [
  ['*.ts', ['a.ts', 'src/deep/a.ts', '.ts'], ['a.tsx', 'ts', 'a.ts/b']],
  ['src/*.ts', ['src/a.ts'], ['src/deep/a.ts', 'a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['a.ts', 'lib/src/a.ts']],
  ['**/test/**', ['test/a', 'x/test/a/b'], ['test', 'tests/a']],
  ['docs/**', ['docs/a', 'docs/a/b'], ['docs', 'doc/a']],
  ['*.{js,mjs}', ['a.js', 'b/a.mjs'], ['a.cjs', 'a.js,mjs']],
  ['[a-c]?.md', ['a1.md'], ['d1.md', 'a.md', 'a/.md']],
  ['[!a].md', ['b.md'], ['a.md']],
  ['a+(b).txt', ['a+(b).txt'], ['ab.txt']],
  ['a,b', ['a,b'], ['a']],
  ['**', ['a', 'a/b'], []],
];

for (const [glob, yes, no] of cases) {
  test(`the glob ${glob} finds ${yes.join(' ')}${no.length === 0 ? '' : ` and not ${no.join(' ')}`}`, () => {
    const matches = globPattern(glob);
    assert.deepEqual([...yes, ...no].filter(matches), yes);
  });
}

test('a glob with an unclosed brace, and an empty glob, are rejected by name', () => {
  assert.throws(() => globPattern('a{b,c'), { code: 'invalid_input', field: 'pattern' });
  assert.throws(() => globPattern(''), { code: 'invalid_input', field: 'pattern' });
});

test('patterns with catastrophic backtracking in other engines end at once', () => {
  const matches = linePattern('^(a+)+$');
  assert.equal(matches(`${'a'.repeat(20_000)}b`), false);
  const glob = globPattern(`${'*a'.repeat(12)}*b`);
  assert.equal(glob('a'.repeat(250)), false);
});

test('a pattern that RE2 does not support is rejected, and nothing is searched', () => {
  for (const pattern of ['(?=a)', String.raw`(a)\1`, '(', 'a'.repeat(1_001)]) {
    assert.throws(() => linePattern(pattern), { code: 'invalid_input', field: 'pattern' });
  }
});
