import { InvalidInputError } from '../../core/index.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import { START } from './workflow-definition.ts';
import type {
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNodeDefinition,
} from './workflow-definition.ts';

const DEFAULT_MAX_STEPS = 100;

/**
 * Checks the nodes and edges of a workflow.
 * @returns the most steps of a turn
 * @throws InvalidInputError
 */
export function checkWorkflow({ name, nodes, edges, maxSteps }: WorkflowDefinition): number {
  checkAgentName(name);
  const names = nodes.map((node) => node.name);
  const problem = (of: string, text: string): InvalidInputError =>
    new InvalidInputError(of, `of workflow "${name}" ${text}`);
  for (const [index, node] of nodes.entries()) {
    checkAgentName(node.name);
    if (node.name === START || node.name === name || names.indexOf(node.name) !== index)
      throw problem('nodes', `must have unique names: "${node.name}" is taken.`);
  }
  if (!edges.some(({ from }) => from === START))
    throw problem('edges', `must include one from "${START}": without it no node ever begins.`);
  for (const [index, { from, to, route }] of edges.entries()) {
    const unknown = [from, to].find((end) => end !== START && !names.includes(end));
    if (unknown !== undefined)
      throw problem('edges', `refer to "${unknown}", which is not one of its nodes.`);
    if (to === START) throw problem('edges', `must not lead to "${START}".`);
    if (from === START && route !== undefined)
      throw problem('edges', `from "${START}" must not have a route.`);
    const twin = edges.findIndex((other) => other.from === from && other.to === to);
    if (twin !== index)
      throw problem(
        'edges',
        `lead from "${from}" to "${to}" twice: use one edge with both routes.`,
      );
  }
  for (const node of nodes) assertReachable(node, edges, problem);
  const cyclic = names.find((node) => isInUnconditionalCycle(node, edges));
  if (cyclic !== undefined)
    throw problem(
      'edges',
      `form a cycle from "${cyclic}" without a route, which would never end: give one of them a route.`,
    );
  const steps = maxSteps ?? DEFAULT_MAX_STEPS;
  if (!Number.isInteger(steps) || steps < 1 || steps > 10_000)
    throw problem('maxSteps', `must be a whole number from 1 to 10000; it is ${steps}.`);
  return steps;
}

function assertReachable(
  { name, kind }: WorkflowNodeDefinition,
  edges: readonly WorkflowEdge[],
  problem: (of: string, text: string) => InvalidInputError,
): void {
  const before = edges.filter(({ to }) => to === name);
  if (!reachableNodes(edges).has(name))
    throw problem('nodes', `include "${name}", which is not reachable from "${START}".`);
  if (kind === 'join' && before.some(({ from }) => from === START))
    throw problem('edges', `must not lead from "${START}" to the join "${name}".`);
}

/** `START` and all nodes that are reachable from it. */
function reachableNodes(edges: readonly WorkflowEdge[]): ReadonlySet<string> {
  const found = new Set<string>([START]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { from, to } of edges) if (found.has(from)) found.add(to);
  }
  return found;
}

/** True if edges without a route lead from a node back to itself. */
function isInUnconditionalCycle(node: string, edges: readonly WorkflowEdge[]): boolean {
  const found = new Set<string>();
  const visit = (from: string): void => {
    for (const { to } of edges.filter((edge) => edge.from === from && edge.route === undefined)) {
      if (found.has(to)) continue;
      found.add(to);
      visit(to);
    }
  };
  visit(node);
  return found.has(node);
}
