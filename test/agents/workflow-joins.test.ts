import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { runAgent } from './run-agent.ts';
import {
  canBeIncomplete,
  proveJoins,
  routedGraphs,
  routes,
  simulate,
  toWorkflow,
} from './workflow-joins.ts';

test('in any graph, the proof that joins complete fails exactly if some routes leave a join incomplete', async () => {
  const verdicts = new Set<string | undefined>();
  await fc.assert(
    fc.asyncProperty(routedGraphs, async (graph) => {
      const all = canBeIncomplete(graph);
      if (all === undefined || all.runs > 6) return;
      const verdict = await proveJoins(toWorkflow(graph), all.runs);
      verdicts.add(verdict);
      assert.equal(verdict, all.isIncomplete ? 'refuted' : 'proved');
    }),
    { numRuns: 12, seed: 4 },
  );
  assert.deepEqual(verdicts, new Set(['proved', 'refuted']));
});

test('in any graph, a turn reports an incomplete join exactly if its routes leave one', async () => {
  await fc.assert(
    fc.asyncProperty(
      routedGraphs,
      fc.array(fc.nat(routes.length - 1), { minLength: 5, maxLength: 5 }),
      async (graph, chosen) => {
        const choose = (node: string): (typeof routes)[number] =>
          routes[chosen[Number(node.slice(1))] ?? 0];
        const events = await runAgent(toWorkflow(graph, choose)).sendAndWait('Go');
        assert.equal(
          events.some((event) => event.type === 'error' && event.code === 'join_incomplete'),
          simulate(graph, choose).isIncomplete,
        );
      },
    ),
    { numRuns: 60 },
  );
});
