import * as fc from 'fast-check';
import { agentProof, NodeEvent, workflow } from '../../src/agents/index.ts';
import type { Agent, WorkflowEdge, WorkflowNodeDefinition } from '../../src/agents/index.ts';
import type { Route } from '../../src/core/index.ts';
import { joinsComplete, prove } from '../../src/verify/index.ts';
import type { Verdict } from '../../src/verify/index.ts';
import { DEFAULT_ROUTE } from '../../src/agents/workflow/workflow-definition.ts';

/** Routes that a node may give in these tests. */
export const routes: readonly (Route | undefined)[] = [undefined, 'x', 'y', ['x', 'y']];

/** A workflow without cycles whose edges may have routes. */
export interface RoutedGraph {
  readonly nodes: readonly { readonly name: string; readonly isJoin: boolean }[];
  readonly edges: readonly WorkflowEdge[];
}

const edgeRoutes: readonly (Route | undefined)[] = [
  undefined,
  undefined,
  'x',
  'y',
  DEFAULT_ROUTE,
  ['x', 'y'],
];

/** Random graphs: START leads to the first node, and each other node has one or two nodes before it. */
export const routedGraphs: fc.Arbitrary<RoutedGraph> = fc
  .array(
    fc.record({
      joins: fc.boolean(),
      from: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 2 }),
      route: fc.array(fc.nat(edgeRoutes.length - 1), { minLength: 2, maxLength: 2 }),
    }),
    { minLength: 2, maxLength: 4 },
  )
  .map((drawing) => {
    const nodes = [{ name: 'n0', isJoin: false }];
    const edges: WorkflowEdge[] = [{ from: 'START', to: 'n0' }];
    for (const [index, { joins, from, route }] of drawing.entries()) {
      const name = `n${index + 1}`;
      const before = [...new Set(from.map((one) => nodes[one % nodes.length]?.name ?? 'n0'))];
      nodes.push({ name, isJoin: joins && before.length > 1 });
      for (const [at, one] of before.entries()) {
        const given = edgeRoutes[route[at] ?? 0];
        edges.push({ from: one, to: name, ...(given !== undefined && { route: given }) });
      }
    }
    return { nodes, edges };
  });

/** The workflow of a graph. `choose` returns the route of each run of a node. */
export function toWorkflow(
  { nodes, edges }: RoutedGraph,
  choose: (node: string) => Route | undefined = () => undefined,
): Agent {
  return workflow({
    name: 'wf',
    nodes: nodes.map(({ name, isJoin }): WorkflowNodeDefinition =>
      isJoin
        ? { kind: 'join', name }
        : { kind: 'function', name, run: () => toNodeEvent(name, choose(name)) },
    ),
    edges,
    maxSteps: 50,
  });
}

/**
 * The runs of a graph by the rules of workflows alone: counts of tokens on edges, from the first node to the last.
 * @param pick is asked for the route of each run of a function node
 */
export function simulate(
  { nodes, edges }: RoutedGraph,
  pick: (node: string) => Route | undefined,
): { readonly isIncomplete: boolean; readonly runs: number } {
  const tokens = new Map<WorkflowEdge, number>();
  let runs = 0;
  let isIncomplete = false;
  for (const { name, isJoin } of nodes) {
    const counts = edges
      .filter(({ to }) => to === name)
      .map((edge) => (edge.from === 'START' ? 1 : (tokens.get(edge) ?? 0)));
    const times = isJoin ? Math.min(...counts) : counts.reduce((sum, count) => sum + count, 0);
    if (isJoin && counts.some((count) => count > times)) isIncomplete = true;
    if (!isJoin) runs += times;
    for (let run = 0; run < times; run++) {
      const given = toList(isJoin ? undefined : pick(name));
      const after = edges.filter(({ from }) => from === name);
      const matched = after.filter(({ route }) => toList(route).some((one) => given.includes(one)));
      const fallback = after.filter(({ route }) => toList(route).includes(DEFAULT_ROUTE));
      for (const edge of after) {
        const isTaken =
          edge.route === undefined || (matched.length > 0 ? matched : fallback).includes(edge);
        if (isTaken) tokens.set(edge, (tokens.get(edge) ?? 0) + 1);
      }
    }
  }
  return { isIncomplete, runs };
}

/** Tries all routes of all runs. Undefined for a graph with too many. */
export function canBeIncomplete(
  graph: RoutedGraph,
): { readonly isIncomplete: boolean; readonly runs: number } | undefined {
  let isIncomplete = false;
  let runs = 0;
  const open: number[][] = [[]];
  for (let tries = 0; open.length > 0; tries++) {
    if (tries > 5000) return undefined;
    const chosen = open.pop() ?? [];
    let at = 0;
    const result = simulate(graph, () => {
      if (at === chosen.length) {
        for (let other = 1; other < routes.length; other++) open.push([...chosen, other]);
        chosen.push(0);
      }
      return routes[chosen[at++] ?? 0];
    });
    isIncomplete ||= result.isIncomplete;
    runs = Math.max(runs, result.runs);
  }
  return { isIncomplete, runs };
}

/** The verdict of `joinsComplete` within the default bounds. */
export async function proveJoins(agent: Agent): Promise<Verdict | undefined> {
  const { bounds, components } = agentProof(agent, { faults: 0 });
  const properties = [joinsComplete()];
  const { results } = await prove(agent.compiled, { properties, bounds, components });
  return results[0]?.verdict;
}

function toNodeEvent(output: string, route: Route | undefined): NodeEvent {
  return new NodeEvent({ output, ...(route !== undefined && { route }) });
}

function toList(route: Route | undefined): readonly unknown[] {
  if (route === undefined) return [];
  return typeof route === 'object' ? route : [route];
}
