import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  crashEverywhere,
  runWithCrashes,
  streamScenario,
  transferScenario,
} from './live-agents-crashes.ts';

test('a live session of two agents continues after a crash after any write, and at its tool', async (t) => {
  const calm = await runWithCrashes(transferScenario, []);
  transferScenario.check(calm);
  const points = ['after-write', 'tool-began', 'tool-did'] as const;
  const runs = await crashEverywhere(transferScenario, calm, points);
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 20, `${runs}`);
});

test('after a crash after any write a streaming tool has one result, and no value of it comes twice', async (t) => {
  const calm = await runWithCrashes(streamScenario, []);
  streamScenario.check(calm);
  assert.equal(calm.messages.length, 3);
  const runs = await crashEverywhere(streamScenario, calm, ['after-write', 'tool-began']);
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 20, `${runs}`);
});
