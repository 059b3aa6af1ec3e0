import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  crashEverywhere,
  runWithCrashes,
  streamScenario,
  transferScenario,
} from '../live/live-agents-crashes.ts';

const points = ['before-write', 'after-write', 'tool-began', 'tool-did'] as const;

for (const [name, scenario] of Object.entries({ transferScenario, streamScenario })) {
  test(`a live session continues after a crash before or after any write: ${name}`, async (t) => {
    const calm = await runWithCrashes(scenario, []);
    scenario.check(calm);
    const runs = await crashEverywhere(scenario, calm, points);
    t.diagnostic(`${runs} crashes`);
    assert.ok(runs > 45, `${runs}`);
  });
}
