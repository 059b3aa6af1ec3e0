import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingProof, readPage, rowsOfTables } from '../docs/shown-rows.ts';

test('every boundary of the threat model names a test that is there', () => {
  const [, boundaries = ''] = readPage('docs/security.md').split('## Boundaries');
  const rows = rowsOfTables(boundaries);
  assert.ok(rows.length > 20);
  assert.deepEqual(
    rows.flatMap(([threat = '', , shown = '']) => missingProof(threat, shown)),
    [],
  );
});
