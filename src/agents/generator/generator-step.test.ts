import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addReply, findReply } from './generator-step.ts';
import type { GeneratorStep } from './generator-step.ts';

const step = (yielded: number, replies?: GeneratorStep['replies']): GeneratorStep => ({
  invocationId: 'e-1',
  activation: '1.0',
  yielded,
  replies,
});

test('a reply belongs to the yield that asked for it', () => {
  const asked = addReply(step(3), { stopReason: 'end_turn' });
  assert.deepEqual(asked.replies, { 2: { stopReason: 'end_turn' } });
  const later = addReply({ ...asked, yielded: 5 }, null);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((yielded) => findReply(later, yielded)),
    [undefined, undefined, { stopReason: 'end_turn' }, undefined, null],
  );
});

test('a token of 0.1.0, with a list of replies and null for none, continues', () => {
  const stored = step(3, [null, { stopReason: 'end_turn' }]);
  assert.deepEqual(
    [1, 2, 3].map((yielded) => findReply(stored, yielded)),
    [undefined, { stopReason: 'end_turn' }, undefined],
  );
  assert.deepEqual(addReply(stored, { stopReason: 'error' }).replies, {
    1: { stopReason: 'end_turn' },
    2: { stopReason: 'error' },
  });
});
