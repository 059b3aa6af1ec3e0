import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { version } from '@google/adk';
import { compareProgram } from './compare-programs.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import { createParityPage } from './parity-page.ts';
import { programs } from './programs/index.ts';

const comparisons = await Promise.all(programs.map(compareProgram));

for (const { program, differences } of comparisons)
  test(`${program.area}: ${program.name}`, () => {
    const unknown = differences.filter(
      (difference) => !KNOWN_DIFFERENCES.some((known) => known.matches(difference)),
    );
    assert.deepEqual(unknown, [], 'differs from ADK in a way that has no reason');
  });

test('every known difference occurs', () => {
  const all = comparisons.flatMap(({ differences }) => differences);
  const stale = KNOWN_DIFFERENCES.filter((known) => !all.some((one) => known.matches(one)));
  assert.deepEqual(
    stale.map(({ subject }) => subject),
    [],
  );
});

test('every program has a name of its own', () => {
  assert.equal(new Set(programs.map(({ name }) => name)).size, programs.length);
});

test('the page shows this comparison: npm run adk-parity writes it', () => {
  const page = readFileSync(
    new URL('../../../docs/conformance/adk-parity.md', import.meta.url),
    'utf8',
  );
  assert.ok(
    page === createParityPage(comparisons, version),
    'docs/conformance/adk-parity.md is stale',
  );
});
