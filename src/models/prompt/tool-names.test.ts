import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { toolNames } from './tool-names.ts';

const FINE = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

test('a name that is fine stays, another ends in a hash of itself', () => {
  const { toProvider, fromProvider } = toolNames(['web_search', 'files.read', '7zip']);
  assert.equal(toProvider('web_search'), 'web_search');
  assert.match(toProvider('files.read'), /^files_read_[0-9a-f]{8}$/);
  assert.match(toProvider('7zip'), /^_7zip_[0-9a-f]{8}$/);
  assert.equal(fromProvider(toProvider('files.read')), 'files.read');
  assert.equal(fromProvider('made_up'), 'made_up');
});

test('long names that begin alike stay apart', () => {
  const names = ['x', 'y', 'z'].map((end) => 'a'.repeat(100) + end);
  const { toProvider } = toolNames(names);
  assert.equal(new Set(names.map(toProvider)).size, 3);
});

test('a name that looks like another in its changed form keeps it', () => {
  const changed = toolNames(['a.b']).toProvider('a.b');
  const { toProvider, fromProvider } = toolNames(['a.b', changed]);
  assert.equal(toProvider(changed), changed);
  assert.notEqual(toProvider('a.b'), changed);
  assert.deepEqual(['a.b', changed].map(toProvider).map(fromProvider), ['a.b', changed]);
});

test('a tool that is gone has a name too, and takes nobody else’s', () => {
  const { toProvider } = toolNames(['a.b']);
  assert.match(toProvider('gone.tool'), FINE);
  assert.notEqual(toProvider('gone.tool'), toProvider('a.b'));
});

test('any names are sent as fine ones and found again', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90 })), (names) => {
      const { toProvider, fromProvider } = toolNames(names);
      const sent = names.map(toProvider);
      assert.ok(sent.every((name) => FINE.test(name)));
      assert.equal(new Set(sent).size, names.length);
      assert.deepEqual(sent.map(fromProvider), names);
    }),
  );
});
