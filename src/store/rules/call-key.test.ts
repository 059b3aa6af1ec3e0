import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCallKey, toTextKey } from './call-key.ts';

test('the id of a call is its key, unless a database cannot hold it', () => {
  for (const id of ['call_1', '', 'ä😀', 'x'.repeat(512)]) assert.equal(toCallKey(id), id);
  const odd = ['\0', 'a\0', '\udc00', '\ud800', 'x'.repeat(513), 'ä'.repeat(257)];
  const keys = odd.map(toCallKey);
  assert.equal(new Set(keys).size, odd.length);
  for (const key of keys) assert.match(key, /^[0-9a-f]{64}$/);
  assert.equal(toTextKey('x'.repeat(513)), 'x'.repeat(513));
  assert.equal(toTextKey('\udc00'), toCallKey('\udc00'));
});
