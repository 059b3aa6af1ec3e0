import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toUsage } from './to-usage.ts';

test('totals hold their parts, and parts of nothing are left out', () => {
  const counted = {
    inputTokens: { total: 100, noCache: 40, cacheRead: 60, cacheWrite: 0 },
    outputTokens: { total: 30, text: 10, reasoning: 20 },
    raw: {},
  };
  assert.deepEqual(toUsage(counted), {
    inputTokens: 100,
    outputTokens: 30,
    totalTokens: 130,
    thinkingTokens: 20,
    cacheReadTokens: 60,
  });
});

test('nothing counted is no count', () => {
  const unknown = { total: undefined, reasoning: undefined };
  assert.equal(toUsage({ inputTokens: unknown, outputTokens: unknown }), undefined);
  assert.equal(toUsage(undefined), undefined);
  assert.deepEqual(toUsage({ inputTokens: { total: 5 } }), {
    inputTokens: 5,
    outputTokens: 0,
    totalTokens: 5,
  });
});
