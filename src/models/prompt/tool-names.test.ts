import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { toolNames } from './tool-names.ts';

const VALID_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

test('a valid name is kept, and an invalid name is replaced by one that ends with a hash', () => {
  const { toProvider, fromProvider } = toolNames(['web_search', 'files.read', '7zip']);
  assert.equal(toProvider('web_search'), 'web_search');
  assert.match(toProvider('files.read'), /^files_read_[0-9a-f]{8}$/);
  assert.match(toProvider('7zip'), /^_7zip_[0-9a-f]{8}$/);
  assert.equal(fromProvider(toProvider('files.read')), 'files.read');
  assert.equal(fromProvider('made_up'), 'made_up');
});

test('long names with the same start stay different', () => {
  const names = ['x', 'y', 'z'].map((end) => 'a'.repeat(100) + end);
  const { toProvider } = toolNames(names);
  assert.equal(new Set(names.map(toProvider)).size, 3);
});

test('a name that equals the replacement of another name is kept', () => {
  const changed = toolNames(['a.b']).toProvider('a.b');
  const { toProvider, fromProvider } = toolNames(['a.b', changed]);
  assert.equal(toProvider(changed), changed);
  assert.notEqual(toProvider('a.b'), changed);
  assert.deepEqual(['a.b', changed].map(toProvider).map(fromProvider), ['a.b', changed]);
});

test('a tool that no longer exists has a valid name, different from the others', () => {
  const { toProvider } = toolNames(['a.b']);
  assert.match(toProvider('gone.tool'), VALID_NAME);
  assert.notEqual(toProvider('gone.tool'), toProvider('a.b'));
});

test('any names are sent as valid names and mapped back', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90 })), (names) => {
      const { toProvider, fromProvider } = toolNames(names);
      const sent = names.map(toProvider);
      assert.ok(sent.every((name) => VALID_NAME.test(name)));
      assert.equal(new Set(sent).size, names.length);
      assert.deepEqual(sent.map(fromProvider), names);
    }),
  );
});
