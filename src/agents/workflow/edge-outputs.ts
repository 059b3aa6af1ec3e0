import { allOf, oneOf, optional } from '../../net/index.ts';
import type { AnyPlace, TokenPlace, Transition } from '../../net/index.ts';
import { listEdgeChoices } from './select-edges.ts';
import type {
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNodeDefinition,
} from './workflow-definition.ts';
import { joinInput, nodeReady, workflowRun } from './workflow-places.ts';
import type { NodeDone, NodeReady, WorkflowRun } from './workflow-places.ts';

type Outputs = Readonly<Record<string, AnyPlace>>;
type Tokens = Readonly<Record<string, NodeReady | NodeDone>>;

/** The outputs of edges that are always followed: to a node, or to the input of a join. */
export function edgeOutputs(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNodeDefinition[],
): Outputs {
  return Object.fromEntries(
    edges.map(({ from, to }) => [
      `to-${to}`,
      isJoin(to, nodes) ? joinInput(to, from) : nodeReady(to),
    ]),
  );
}

/** The tokens for these edges, which start at the same node. */
export function activateEdges(
  edges: readonly WorkflowEdge[],
  nodes: readonly WorkflowNodeDefinition[],
  ready: NodeReady,
  done: NodeDone,
): Tokens {
  return Object.fromEntries(edges.map(({ to }) => [`to-${to}`, isJoin(to, nodes) ? done : ready]));
}

/** The outputs of a transition that follows the edges after a node. */
export interface RouteOutputs {
  readonly give: Transition['give'];
  /** Returns what the transition returns if it follows these edges. */
  readonly toValue: (taken: readonly WorkflowEdge[], run: WorkflowRun, tokens: Tokens) => unknown;
}

/**
 * The outputs of the edges after a node: one alternative for each set of edges that a route can select, so that a proof
 * follows no other. Very many sets are declared as edges that are followed independently of each other.
 */
export function routeOutputs(
  after: readonly WorkflowEdge[],
  nodes: readonly WorkflowNodeDefinition[],
): RouteOutputs {
  const choices = listEdgeChoices(after);
  const [only, ...others] = choices ?? [];
  if (only !== undefined && others.length === 0)
    return {
      give: allOf({ run: workflowRun, ...edgeOutputs(only, nodes) }),
      toValue: (_, run, tokens) => ({ run, ...tokens }),
    };
  if (choices !== undefined)
    return {
      give: oneOf(
        Object.fromEntries(
          choices.map((taken) => [
            toAlternative(taken),
            allOf({ run: workflowRun, ...edgeOutputs(taken, nodes) }),
          ]),
        ),
      ),
      toValue: (taken, run, tokens) => ({ [toAlternative(taken)]: { run, ...tokens } }),
    };
  const sometimes = after.filter(({ route }) => route !== undefined);
  return {
    give: allOf({
      run: workflowRun,
      ...edgeOutputs(
        after.filter(({ route }) => route === undefined),
        nodes,
      ),
      ...Object.fromEntries(
        Object.entries(edgeOutputs(sometimes, nodes)).map(([key, place]) => [key, optional(place)]),
      ),
    }),
    toValue: (_, run, tokens) => ({ run, ...tokens }),
  };
}

/** The name of the alternative that follows these edges. */
function toAlternative(edges: readonly WorkflowEdge[]): string {
  return edges.length === 0 ? 'end' : edges.map(({ to }) => `to-${to}`).join('+');
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
