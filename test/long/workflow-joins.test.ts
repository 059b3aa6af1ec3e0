import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canBeIncomplete, proveJoins, routedGraphs, toWorkflow } from '../agents/workflow-joins.ts';

test('for 300 random workflows, the proof that joins complete agrees with all routes', async () => {
  await fc.assert(
    fc.asyncProperty(routedGraphs, async (graph) => {
      const all = canBeIncomplete(graph);
      if (all === undefined || all.runs > 8) return;
      const verdict = await proveJoins(toWorkflow(graph));
      assert.equal(verdict, all.isIncomplete ? 'refuted' : 'proved');
    }),
    { numRuns: 300 },
  );
});
