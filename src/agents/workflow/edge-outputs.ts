import { optional } from '../../net/index.ts';
import type { OutputArc } from '../../net/internal.ts';
import type { TokenPlace } from '../../net/index.ts';
import type {
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNodeDefinition,
} from './workflow-definition.ts';
import { joinInput, nodeReady } from './workflow-places.ts';
import type { NodeDone, NodeReady } from './workflow-places.ts';

type Outputs = Readonly<Record<string, OutputArc>>;

/** The output arcs of these edges: to a node, or to the input of a join. */
export function edgeOutputs(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNodeDefinition[],
): Outputs {
  return Object.fromEntries(
    edges.map(({ from, to }) => [
      `to-${to}`,
      isJoin(to, nodes) ? optional(joinInput(to, from)) : optional(nodeReady(to)),
    ]),
  );
}

/** The tokens for those of the edges that start at the node `from`. */
export function activateEdges(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNodeDefinition[],
  from: string,
  ready: NodeReady,
  done: NodeDone,
): Readonly<Record<string, NodeReady | NodeDone>> {
  return Object.fromEntries(
    edges
      .filter((edge) => edge.from === from)
      .map(({ to }) => [`to-${to}`, isJoin(to, nodes) ? done : ready]),
  );
}

function isJoin(name: string, nodes: readonly WorkflowNodeDefinition[]): boolean {
  return nodes.some((node) => node.name === name && node.kind === 'join');
}

/** The input places of all joins of a workflow. */
export function listJoinInputs({
  nodes,
  edges,
}: WorkflowDefinition): readonly TokenPlace<NodeDone>[] {
  return edges.filter(({ to }) => isJoin(to, nodes)).map(({ from, to }) => joinInput(to, from));
}
