import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { workflow } from '../../src/agents/index.ts';
import type { WorkflowEdge, WorkflowNodeDefinition } from '../../src/agents/index.ts';
import { runAgent } from './run-agent.ts';

interface Graph {
  readonly nodes: readonly WorkflowNodeDefinition[];
  readonly edges: readonly WorkflowEdge[];
  /** The expected number of runs of each node. */
  readonly runs: Readonly<Record<string, number>>;
  /** True if a join keeps an input that has no partner. */
  readonly isIncomplete: boolean;
}

/**
 * For each node: whether it is a join, and the indexes of its predecessors (START or earlier
 * nodes).
 */
const arbitraryDrawing = fc.array(
  fc.record({ joins: fc.boolean(), from: fc.array(fc.nat(6), { minLength: 1, maxLength: 3 }) }),
  { minLength: 1, maxLength: 6 },
);

/** Converts a drawing to a graph and computes the expected runs without a net. */
function toGraph(
  drawing: readonly { readonly joins: boolean; readonly from: readonly number[] }[],
): Graph {
  const nodes: WorkflowNodeDefinition[] = [];
  const edges: WorkflowEdge[] = [];
  const runs: Record<string, number> = { START: 1 };
  let isIncomplete = false;
  for (const [index, { joins, from }] of drawing.entries()) {
    const name = `n${index}`;
    const known = Object.keys(runs);
    const predecessors = [...new Set(from.map((one) => known[one % known.length] ?? 'START'))];
    const isJoin = joins && !predecessors.includes('START');
    nodes.push(isJoin ? { kind: 'join', name } : { kind: 'function', name, run: () => name });
    edges.push(...predecessors.map((one) => ({ from: one, to: name })));
    const counts = predecessors.map((one) => runs[one] ?? 0);
    const fewest = Math.min(...counts);
    runs[name] = isJoin ? fewest : counts.reduce((sum, count) => sum + count, 0);
    isIncomplete ||= isJoin && counts.some((count) => count > fewest);
  }
  return { nodes, edges, runs, isIncomplete };
}

test('in any graph, a function node runs once per incoming run, and a join once per complete set of inputs', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryDrawing, async (drawing) => {
      const { nodes, edges, runs, isIncomplete } = toGraph(drawing);
      const agent = workflow({ name: 'wf', nodes, edges, maxSteps: 1000 });
      const events = await runAgent(agent).sendAndWait('Go');
      const nodeNames = events.flatMap((event) =>
        event.type === 'agent.message' ? (event.nodeInfo?.name ?? []) : [],
      );
      for (const { kind, name } of nodes)
        if (kind === 'function')
          assert.equal(nodeNames.filter((one) => one === name).length, runs[name], name);
      assert.equal(
        events.some((event) => event.type === 'error' && event.code === 'join_incomplete'),
        isIncomplete,
      );
      assert.equal(events.at(-1)?.type, 'turn.ended');
      // Each run has a unique path.
      const paths = events.flatMap((event) =>
        event.type === 'agent.message' ? (event.nodeInfo?.path ?? []) : [],
      );
      assert.equal(new Set(paths).size, paths.length);
    }),
    { numRuns: 60 },
  );
});
