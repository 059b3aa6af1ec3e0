import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolPolicy } from './tool-policy.ts';

const careful = { readOnly: false, idempotent: false, needsApproval: true };

test('a tool without annotations needs approval, and has an unknown outcome after a crash', () => {
  assert.deepEqual(toolPolicy('t', undefined, {}), careful);
  assert.deepEqual(toolPolicy('t', { destructiveHint: true }, {}), careful);
});

test('a tool that only reads, or is not destructive, needs no approval', () => {
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

test('a server with untrusted hints needs approval for every tool, except for configured tools', () => {
  const hints = { readOnlyHint: true, idempotentHint: true };
  assert.deepEqual(toolPolicy('t', hints, { trustHints: false }), careful);
  const approved = { ...careful, needsApproval: false };
  assert.deepEqual(toolPolicy('t', hints, { trustHints: false, autoApprove: ['t'] }), approved);
  assert.deepEqual(toolPolicy('u', hints, { trustHints: false, autoApprove: ['t'] }), careful);
  assert.deepEqual(toolPolicy('u', undefined, { autoApprove: true }), approved);
});

test('the policy of a single tool overrides everything else', () => {
  const policy = { t: { needsApproval: true, onCrash: 'ask', timeoutMs: 5 } } as const;
  assert.deepEqual(toolPolicy('t', { readOnlyHint: true }, { autoApprove: true, policy }), {
    readOnly: true,
    idempotent: false,
    needsApproval: true,
    onCrash: 'ask',
    timeoutMs: 5,
  });
});
