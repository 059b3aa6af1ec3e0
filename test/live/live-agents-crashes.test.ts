import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  crashEverywhere,
  runWithCrashes,
  streamScenario,
  transferScenario,
} from './live-agents-crashes.ts';

// The long tests crash at every write.
const STRIDE = 3;

test('a live session of two agents continues after a crash after a write, and at its tool', async (t) => {
  const calm = await runWithCrashes(transferScenario, []);
  transferScenario.check(calm);
  const points = ['after-write', 'tool-began', 'tool-did'] as const;
  const runs = await crashEverywhere(transferScenario, calm, points, STRIDE);
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 20 / STRIDE, `${runs}`);
});

test('after a crash after a write a streaming tool has one result, and no value of it comes twice', async (t) => {
  const calm = await runWithCrashes(streamScenario, []);
  streamScenario.check(calm);
  assert.equal(calm.messages.length, 3);
  const runs = await crashEverywhere(streamScenario, calm, ['after-write', 'tool-began'], STRIDE);
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 20 / STRIDE, `${runs}`);
});
