import { optional } from '../net/index.ts';
import type { Output } from '../net/arcs.ts';
import type { TokenPlace } from '../net/index.ts';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow-definition.ts';
import { joinInput, nodeReady } from './workflow-places.ts';
import type { NodeDone, NodeReady } from './workflow-places.ts';

type Outputs = Readonly<Record<string, Output>>;

export function readyOutputs(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNode[],
): Outputs {
  return Object.fromEntries(
    edges.map(({ from, to }) => [
      `to-${to}`,
      isJoin(to, nodes) ? optional(joinInput(to, from)) : optional(nodeReady(to)),
    ]),
  );
}

export function given(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNode[],
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

function isJoin(name: string, nodes: readonly WorkflowNode[]): boolean {
  return nodes.some((node) => node.name === name && node.kind === 'join');
}

export function joinInputsOf({
  nodes,
  edges,
}: WorkflowDefinition): readonly TokenPlace<NodeDone>[] {
  return edges.filter(({ to }) => isJoin(to, nodes)).map(({ from, to }) => joinInput(to, from));
}
