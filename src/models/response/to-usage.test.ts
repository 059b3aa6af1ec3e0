import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toUsage } from './to-usage.ts';

test('totals include their parts, and parts that are zero are omitted', () => {
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

test('usage without counts is undefined', () => {
  const unknown = { total: undefined, reasoning: undefined };
  assert.equal(toUsage({ inputTokens: unknown, outputTokens: unknown }), undefined);
  assert.equal(toUsage(undefined), undefined);
  assert.deepEqual(toUsage({ inputTokens: { total: 5 } }), {
    inputTokens: 5,
    outputTokens: 0,
    totalTokens: 5,
  });
});
