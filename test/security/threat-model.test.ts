import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMissingProof, readPage, listTableRows } from '../docs/docs-tables.ts';

test('every boundary of the threat model names a test that is there', () => {
  const [, boundaries = ''] = readPage('docs/security.md').split('## Boundaries');
  const rows = listTableRows(boundaries);
  assert.ok(rows.length > 20);
  assert.deepEqual(
    rows.flatMap(([threat = '', , shown = '']) => findMissingProof(threat, shown)),
    [],
  );
});
