import assert from 'node:assert/strict';
import { it } from 'node:test';
import { measureOldSpaceGrowth } from '../../../test/old-space-growth.ts';
import { createActions } from './tool-actions.ts';
import type { ToolActions } from './tool-actions.ts';

function record(rejected: Parameters<typeof createActions>[1] = {}) {
  const requested: ToolActions[] = [];
  return { requested, actions: createActions((one) => requested.push(one), rejected) };
}

it('actions are called, or set as in ADK', () => {
  const called = record();
  called.actions.transferToAgent('billing');
  called.actions.escalate();
  called.actions.skipSummarization();
  const set = record();
  set.actions.transferToAgent = 'billing';
  set.actions.escalate = true;
  set.actions.skipSummarization = true;
  const expected = [
    { transferToAgent: 'billing' },
    { escalate: true },
    { skipSummarization: true },
  ];
  assert.deepEqual(called.requested, expected);
  assert.deepEqual(set.requested, expected);
});

it('actions that are set to false or undefined request nothing', () => {
  const { actions, requested } = record();
  actions.transferToAgent = undefined;
  actions.escalate = false;
  actions.skipSummarization = false;
  assert.deepEqual(requested, []);
});

it('an action that has no effect here is refused, called or set', () => {
  const { actions } = record({ escalate: 'is not honored here.' });
  assert.throws(() => actions.escalate(), { code: 'invalid_input' });
  assert.throws(() => (actions.escalate = true), { code: 'invalid_input' });
});

it('actions that nobody keeps leave nothing in the old space of V8', () => {
  assert.ok(measureOldSpaceGrowth(() => createActions(() => {})) < 20);
});
