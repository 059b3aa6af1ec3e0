import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importOptional, isModuleNotFound } from './import-optional.ts';

test('importOptional returns the module of an installed package', async () => {
  const path = await importOptional(import('node:path'), () => new Error('missing'));
  assert.equal(path.join('a', 'b'), 'a/b');
});

test('importOptional throws the error for a package that is not installed, with the reason', async () => {
  const missing = 'petrichor-missing-package';
  const loading = importOptional<unknown>(
    import(missing),
    (cause) => new Error(`found: ${!isModuleNotFound(cause)}`, { cause }),
  );
  await assert.rejects(loading, { message: 'found: false' });
});

test('isModuleNotFound is false for the failure of an installed package', () => {
  assert.equal(isModuleNotFound(new SyntaxError('unexpected token')), false);
  assert.equal(isModuleNotFound('ERR_MODULE_NOT_FOUND'), false);
});
