import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDecision } from './decision.ts';

test('a yes is a yes and nothing more', () => {
  for (const line of ['y', 'Y', ' yes ', 'YES'])
    assert.deepEqual(parseDecision(line), { approve: true });
});

test('a no may say why', () => {
  for (const line of ['n', 'no', ' No ']) assert.deepEqual(parseDecision(line), { approve: false });
  for (const line of ['n too old', 'no, too old', 'no: too old ']) {
    assert.deepEqual(parseDecision(line), { approve: false, message: 'too old' });
  }
});

test('anything else is no answer', () => {
  for (const line of ['', '  ', 'yes please', 'y?n', 'maybe', 'nope', 'yn', 'не']) {
    assert.equal(parseDecision(line), undefined, line);
  }
});
