import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passDueTimes } from './schedule-due-times.ts';

test('the journal of a schedule begins anew when it is long, and each due time has one run', async () => {
  const { mostSteps, renewals } = await passDueTimes(60);
  assert.ok(renewals >= 1, `${renewals} renewals`);
  assert.ok(mostSteps <= 270, `${mostSteps} steps`);
});
