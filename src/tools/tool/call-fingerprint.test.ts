import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { callFingerprint } from './call-fingerprint.ts';

test('a fingerprint is the hash of the name and the sorted arguments', () => {
  const expected = createHash('sha256').update('rm\u001F{"force":true,"path":"a"}').digest('hex');
  assert.equal(callFingerprint('rm', { path: 'a', force: true }), expected);
});

test('a fingerprint does not depend on the order of members, but on everything else', () => {
  const first = callFingerprint('rm', { path: 'a', force: { deep: [1, 2] } });
  assert.equal(callFingerprint('rm', { force: { deep: [1, 2] }, path: 'a' }), first);
  assert.notEqual(callFingerprint('rm', { force: { deep: [2, 1] }, path: 'a' }), first);
  assert.notEqual(callFingerprint('rmdir', { path: 'a', force: { deep: [1, 2] } }), first);
});
