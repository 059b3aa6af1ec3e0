import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findStatusFaults } from '../agents/log-status.ts';
import { runStatusPlan, statusPlans } from '../agents/random-status.ts';

test('for 3,000 random inputs to sessions of every kind, the status changes only as the table allows', async () => {
  await fc.assert(
    fc.asyncProperty(statusPlans, async (plan) => {
      const { steps, faults } = await runStatusPlan(plan);
      assert.deepEqual([...faults, ...findStatusFaults(steps)], []);
    }),
    { numRuns: 3000 },
  );
});
