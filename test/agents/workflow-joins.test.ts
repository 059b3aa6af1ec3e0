import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { agentProof } from '../../src/agents/index.ts';
import { runAgent } from './run-agent.ts';
import {
  canBeIncomplete,
  proveJoins,
  routedGraphs,
  routes,
  simulate,
  toWorkflow,
} from './workflow-joins.ts';
import type { RoutedGraph } from './workflow-joins.ts';

test('in any graph, the proof that joins complete fails exactly if some routes leave a join incomplete', async () => {
  const verdicts = new Set<string | undefined>();
  await fc.assert(
    fc.asyncProperty(routedGraphs, async (graph) => {
      const all = canBeIncomplete(graph);
      if (all === undefined || all.runs > 6) return;
      const verdict = await proveJoins(toWorkflow(graph));
      verdicts.add(verdict);
      assert.equal(verdict, all.isIncomplete ? 'refuted' : 'proved');
    }),
    { numRuns: 14, seed: 23 },
  );
  assert.deepEqual(verdicts, new Set(['proved', 'refuted']));
});

test('a join is proved to be incomplete if only the second run of a node leaves it so', async () => {
  const nodes = ['n0', 'n1', 'n2', 'n3', 'n4'].map((name) => ({ name, isJoin: name === 'n4' }));
  const edge = (from: string, to: string): RoutedGraph['edges'][number] => ({ from, to });
  const edges = [
    edge('START', 'n0'),
    edge('n0', 'n1'),
    edge('n0', 'n2'),
    edge('n1', 'n3'),
    edge('n2', 'n3'),
    edge('n3', 'n4'),
    edge('n1', 'n4'),
  ];
  assert.equal(await proveJoins(toWorkflow({ nodes, edges })), 'refuted');
  const { properties, bounds } = agentProof(toWorkflow({ nodes, edges }));
  assert.equal((bounds.upTo as Record<string, number>)['wf/workflow.budget'], 5);
  assert.equal(properties['joinsComplete/wf']?.name.includes('if its nodes'), false);
  const again = { from: 'n3', to: 'n0', route: 'x' };
  const cyclic = agentProof(toWorkflow({ nodes, edges: [...edges, again] }));
  assert.match(
    cyclic.properties['joinsComplete/wf']?.name ?? '',
    /, if its nodes run at most 8 times together$/,
  );
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
    { numRuns: 30 },
  );
});
