import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { workflow } from '../../src/agents/index.ts';
import type { WorkflowEdge, WorkflowNodeDefinition } from '../../src/agents/index.ts';
import { runAgent } from './run-agent.ts';

interface Graph {
  readonly nodes: readonly WorkflowNodeDefinition[];
  readonly edges: readonly WorkflowEdge[];
  /** How often each node is to run. */
  readonly runs: Readonly<Record<string, number>>;
  /** A join is left with something that came once too often. */
  readonly isLeft: boolean;
}

/** For each node: whether it joins, and which of START and the nodes before it lead to it. */
const drawn = fc.array(
  fc.record({ joins: fc.boolean(), from: fc.array(fc.nat(6), { minLength: 1, maxLength: 3 }) }),
  { minLength: 1, maxLength: 6 },
);

/** What is drawn as a graph, and what it should do: reckoned without any net. */
function toGraph(
  drawing: readonly { readonly joins: boolean; readonly from: readonly number[] }[],
): Graph {
  const nodes: WorkflowNodeDefinition[] = [];
  const edges: WorkflowEdge[] = [];
  const runs: Record<string, number> = { START: 1 };
  let isLeft = false;
  for (const [index, { joins, from }] of drawing.entries()) {
    const name = `n${index}`;
    const known = Object.keys(runs);
    const before = [...new Set(from.map((one) => known[one % known.length] ?? 'START'))];
    const isJoin = joins && !before.includes('START');
    nodes.push(isJoin ? { kind: 'join', name } : { kind: 'function', name, run: () => name });
    edges.push(...before.map((one) => ({ from: one, to: name })));
    const counts = before.map((one) => runs[one] ?? 0);
    const least = Math.min(...counts);
    runs[name] = isJoin ? least : counts.reduce((sum, count) => sum + count, 0);
    isLeft ||= isJoin && counts.some((count) => count > least);
  }
  return { nodes, edges, runs, isLeft };
}

test('a node runs once for each that leads to it, and a join once for all: in any graph', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (drawing) => {
      const { nodes, edges, runs, isLeft } = toGraph(drawing);
      const of = workflow({ name: 'wf', nodes, edges, maxSteps: 1000 });
      const events = await runAgent(of).sendAndWait('Go');
      const made = events.flatMap((event) =>
        event.type === 'agent.message' ? (event.nodeInfo?.name ?? []) : [],
      );
      for (const { kind, name } of nodes)
        if (kind === 'function')
          assert.equal(made.filter((one) => one === name).length, runs[name], name);
      assert.equal(
        events.some((event) => event.type === 'error' && event.code === 'join_incomplete'),
        isLeft,
      );
      assert.equal(events.at(-1)?.type, 'turn.ended');
      // Each run has a path of its own.
      const paths = events.flatMap((event) =>
        event.type === 'agent.message' ? (event.nodeInfo?.path ?? []) : [],
      );
      assert.equal(new Set(paths).size, paths.length);
    }),
    { numRuns: 60 },
  );
});
