import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMissingProof, readPage, listTableRows } from '../docs/docs-tables.ts';

test('every row of the threat model in docs/security.md names an existing test', () => {
  const [, boundaries = ''] = readPage('docs/security.md').split('## Boundaries');
  const rows = listTableRows(boundaries);
  assert.ok(rows.length > 20);
  assert.deepEqual(
    rows.flatMap(([threat = '', , shown = '']) => findMissingProof(threat, shown)),
    [],
  );
});
