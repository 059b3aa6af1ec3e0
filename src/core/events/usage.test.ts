import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStopReason, STOP_REASONS } from './stop-reason.ts';
import { fromAdkSeconds, toAdkSeconds } from './timestamp.ts';
import { addUsage, noUsage } from './usage.ts';

test('an optional count is in the sum when either usage has it', () => {
  const a = { inputTokens: 1, outputTokens: 2, totalTokens: 3, thinkingTokens: 0 };
  const b = { inputTokens: 10, outputTokens: 20, totalTokens: 30, cacheReadTokens: 5 };
  const sum = {
    inputTokens: 11,
    outputTokens: 22,
    totalTokens: 33,
    thinkingTokens: 0,
    cacheReadTokens: 5,
  };
  assert.deepEqual(addUsage(a, b), sum);
  assert.deepEqual(addUsage(b, a), sum);
  assert.deepEqual(addUsage(noUsage, b), b);
});

test('exactly eight stop reasons are valid', () => {
  assert.equal(new Set(STOP_REASONS).size, 8);
  assert.equal(isStopReason('end_turn'), true);
  assert.equal(isStopReason('tired'), false);
});

test('a time converts to ADK seconds and back without loss', () => {
  for (const at of [0, 1, 1_700_000_000_123, 4_102_444_799_999]) {
    assert.equal(fromAdkSeconds(toAdkSeconds(at)), at);
  }
});
