import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolPolicy } from './tool-policy.ts';

const careful = { readOnly: false, idempotent: false, needsApproval: true };

test('a tool of which nothing is known needs approval, and a crash leaves its outcome unknown', () => {
  assert.deepEqual(toolPolicy('t', undefined, {}), careful);
  assert.deepEqual(toolPolicy('t', { destructiveHint: true }, {}), careful);
});

test('what only reads, or destroys nothing, needs no approval', () => {
  assert.deepEqual(toolPolicy('t', { readOnlyHint: true }, {}), {
    readOnly: true,
    idempotent: false,
    needsApproval: false,
  });
  assert.deepEqual(toolPolicy('t', { destructiveHint: false, idempotentHint: true }, {}), {
    readOnly: false,
    idempotent: true,
    needsApproval: false,
  });
});

test('a server whose hints are not trusted is asked about everything, unless the list says otherwise', () => {
  const hints = { readOnlyHint: true, idempotentHint: true };
  assert.deepEqual(toolPolicy('t', hints, { trustHints: false }), careful);
  const approved = { ...careful, needsApproval: false };
  assert.deepEqual(toolPolicy('t', hints, { trustHints: false, autoApprove: ['t'] }), approved);
  assert.deepEqual(toolPolicy('u', hints, { trustHints: false, autoApprove: ['t'] }), careful);
  assert.deepEqual(toolPolicy('u', undefined, { autoApprove: true }), approved);
});

test('what is said of one tool counts before all else', () => {
  const policy = { t: { needsApproval: true, onCrash: 'ask', timeoutMs: 5 } } as const;
  assert.deepEqual(toolPolicy('t', { readOnlyHint: true }, { autoApprove: true, policy }), {
    readOnly: true,
    idempotent: false,
    needsApproval: true,
    onCrash: 'ask',
    timeoutMs: 5,
  });
});
