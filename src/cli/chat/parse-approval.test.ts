import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseApproval } from './parse-approval.ts';

test('only "y" and "yes" approve', () => {
  for (const line of ['y', 'Y', ' yes ', 'YES'])
    assert.deepEqual(parseApproval(line), { approve: true });
});

test('"n" and "no" can have a reason', () => {
  for (const line of ['n', 'no', ' No ']) assert.deepEqual(parseApproval(line), { approve: false });
  for (const line of ['n too old', 'no, too old', 'no: too old ']) {
    assert.deepEqual(parseApproval(line), { approve: false, message: 'too old' });
  }
});

test('other text is not an answer', () => {
  for (const line of ['', '  ', 'yes please', 'y?n', 'maybe', 'nope', 'yn', 'не']) {
    assert.equal(parseApproval(line), undefined, line);
  }
});
