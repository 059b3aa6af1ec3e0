import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passDueTimes } from '../sessions/schedule-due-times.ts';

const COUNT = Number(process.env['PETRICHOR_DUE_TIMES'] ?? 10_000);

test('the journal of a schedule stays small over many due times', async (t) => {
  const passed = await passDueTimes(COUNT);
  t.diagnostic(JSON.stringify(passed));
  assert.ok(passed.renewals >= Math.floor(COUNT / 60), `${passed.renewals} renewals`);
  assert.ok(passed.mostSteps <= 270, `${passed.mostSteps} steps`);
  assert.ok(passed.mostBytes <= 400_000, `${passed.mostBytes} bytes`);
});
