import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInputError } from '../../core/index.ts';
import { findRule, parseRetentionPolicy } from './retention-policy.ts';

test('an invalid policy is refused, and the error names the field', () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [null, /retention/],
    [{}, /rules/],
    [{ rules: [] }, /at least one rule/],
    [{ rules: [{ deleteAfterDays: 0 }] }, /rules\[0\]\.deleteAfterDays.*above 0/],
    [{ rules: [{ deleteAfterDays: '30' }] }, /rules\[0\]\.deleteAfterDays/],
    [{ rules: [{ deleteAfterDays: 1, afterDays: 2 }] }, /rules\[0\]\.afterDays/],
    [{ rules: [{ deleteAfterDays: 1, agent: '' }] }, /rules\[0\]\.agent.*empty/],
    [{ rules: [{ deleteAfterDays: 1, statuses: [] }] }, /rules\[0\]\.statuses.*empty/],
    [{ rules: [{ deleteAfterDays: 1, statuses: ['running'] }] }, /rules\[0\]\.statuses\[0\]/],
    [{ rules: [{ agent: 'support' }] }, /no rule with deleteAfterDays, archiveAfterDays or trim/],
    [{ rules: [{ trimAfterDays: 0 }] }, /rules\[0\]\.trimAfterDays.*above 0/],
    [{ rules: [{ archiveAfterDays: 0 }] }, /rules\[0\]\.archiveAfterDays.*above 0/],
    [
      { rules: [{ agent: 'a' }, { archiveAfterDays: 1, deleteAfterDays: 2 }] },
      /rules\[1\].*Set one of them/,
    ],
    [{ rules: [{ deleteAfterDays: 1 }], rule: [] }, /retention\.rule/],
  ];
  for (const [policy, message] of cases)
    assert.throws(
      () => parseRetentionPolicy(policy),
      (error: unknown) => error instanceof InvalidInputError && message.test(error.message),
      JSON.stringify(policy),
    );
});

test('the first rule that matches app, user and agent applies', () => {
  const policy = parseRetentionPolicy({
    rules: [
      { agent: 'legal' },
      { user: 'ada', deleteAfterDays: 1 },
      { app: 'shop', agent: 'agent_support', deleteAfterDays: 2 },
      { app: 'shop', deleteAfterDays: 3 },
    ],
  });
  const days = (agent: string, userId: string, appName: string): number | string | undefined => {
    const rule = findRule(policy, { agent, key: { appName, userId, sessionId: 's' } });
    return rule === undefined ? 'none' : rule.deleteAfterDays;
  };
  assert.equal(days('legal', 'ada', 'shop'), undefined);
  assert.equal(days('other', 'ada', 'blog'), 1);
  assert.equal(days('agent_support', 'bob', 'shop'), 2);
  assert.equal(days('agent_support-v12', 'bob', 'shop'), 2);
  assert.equal(days('agent_support-v12-e0123abc', 'bob', 'shop'), 2);
  assert.equal(days('agent_support-vip', 'bob', 'shop'), 3);
  assert.equal(days('other', 'bob', 'blog'), 'none');
});
