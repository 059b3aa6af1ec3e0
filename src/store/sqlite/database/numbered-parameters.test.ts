import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('no SQL statement numbers its parameters, which Node 22.13 would leave unbound', () => {
  const folder = new URL('../../', import.meta.url);
  const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('sqlite') && /(?<!\.test)\.ts$/.test(path))
    .map((path) => [path, readFileSync(new URL(path, folder), 'utf8')] as const);
  assert.ok(modules.some(([path]) => path.endsWith('document-table.ts')));
  assert.deepEqual(
    modules
      .filter(([, text]) => /\?\d/.test(text.replaceAll(/\/\/.*$/gm, '')))
      .map(([path]) => path),
    [],
  );
});
