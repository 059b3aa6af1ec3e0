import { InvalidInputError } from '../../core/index.ts';
import type { Json, Route, RouteValue } from '../../core/index.ts';
import type { Retry } from '../../net/index.ts';
import type { StateWrites } from '../../tools/index.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import type { Agent } from '../agent/agent.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import type { NodeContext } from './node-context.ts';

/** Where the first nodes of a workflow come from. */
export const START = 'START';
/** The route of an edge that is taken when no other with a route is. */
export const DEFAULT_ROUTE = '__DEFAULT__';

/** What the body of a node gives back: a value, a `NodeEvent`, a `RequestInput`, content; or a generator of them. */
export type NodeBody = (context: NodeContext, input: Json) => unknown;

interface FunctionNodeBase {
  readonly name: string;
  readonly run: NodeBody;
  /** How long a run may take, or with a generator the step between two yields; 5 minutes unless given. */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
  /**
   * True: when what it asked is answered, it goes on. False: a run that a crash cut off has failed. Unless given, the
   * answer to what it asked is its output, and a run that a crash cut off runs again.
   */
  readonly rerunOnResume?: boolean;
  /** Judges what it gets, and what it gives. They throw when that does not fit. */
  readonly parseInput?: (input: Json) => Json;
  readonly parseOutput?: (output: Json) => Json;
}

/** A node that is a function. What a generator yields is committed before it goes on. */
export interface FunctionNodeDefinition extends FunctionNodeBase {
  readonly kind: 'function';
}

/** A node that runs once for each item of a list, some at once, and gives the list of what they gave, in its order. */
export interface EachNodeDefinition extends FunctionNodeBase {
  readonly kind: 'each';
  /** 8 unless given. */
  readonly maxAtOnce?: number;
}

/** A node that is an agent, once for each item of a list, each time in a session of its own. */
export interface EachAgentNodeDefinition {
  readonly kind: 'each-agent';
  readonly name: string;
  readonly agent: Agent;
  /** 8 unless given. */
  readonly maxAtOnce?: number;
  /** How long the work on one item may take; 5 minutes unless given. */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
}

/** A node that is an agent of the workflow's session. It hears the user, itself, and what the node before it gave. */
export interface AgentNodeDefinition {
  readonly kind: 'agent';
  readonly name: string;
  readonly agent: Agent;
  /** What its last words are to the nodes after it: the text, unless given. */
  readonly toOutput?: (text: string) => Json;
}

/** A node that waits until all before it are done, and gives what they gave, by their names. */
export interface JoinNodeDefinition {
  readonly kind: 'join';
  readonly name: string;
}

/** A step of a workflow, told by its `kind`. Its name is its own in the workflow, and edges name it. */
export type WorkflowNodeDefinition =
  | FunctionNodeDefinition
  | EachNodeDefinition
  | EachAgentNodeDefinition
  | AgentNodeDefinition
  | JoinNodeDefinition;

/**
 * Leads from a node, or from `START`, to a node, which gets what the first gave. No two lead from the same to the
 * same.
 */
export interface WorkflowEdge {
  readonly from: string;
  readonly to: string;
  /** Taken when the node before gives one of these routes; always, when there is none. */
  readonly route?: Route;
}

/** The nodes of a workflow, and which comes after which. ADK's `Workflow`. */
export interface WorkflowDefinition extends Omit<CompositeAgentDefinition, 'subAgents'> {
  readonly nodes: readonly WorkflowNodeDefinition[];
  readonly edges: readonly WorkflowEdge[];
  /** How many steps its nodes may take in one turn: one for each run, and one for each yield; 100 unless given. */
  readonly maxSteps?: number;
  /** Throws when a node may not write this to state. */
  readonly checkState?: (writes: StateWrites) => void;
}

const DEFAULT_MAX_STEPS = 100;

/** @throws InvalidInputError when no net can be made of it; returns the steps its nodes may take */
export function checkWorkflow({ name, nodes, edges, maxSteps }: WorkflowDefinition): number {
  checkAgentName(name);
  const names = nodes.map((node) => node.name);
  const problem = (of: string, text: string): InvalidInputError =>
    new InvalidInputError(of, `of workflow "${name}" ${text}`);
  for (const [index, node] of nodes.entries()) {
    checkAgentName(node.name);
    if (node.name === START || node.name === name || names.indexOf(node.name) !== index)
      throw problem('nodes', `must have names of their own: "${node.name}" is taken.`);
  }
  if (!edges.some(({ from }) => from === START))
    throw problem('edges', `must have one from "${START}", or nothing ever begins.`);
  for (const [index, { from, to, route }] of edges.entries()) {
    const unknown = [from, to].find((end) => end !== START && !names.includes(end));
    if (unknown !== undefined) throw problem('edges', `name "${unknown}", which is no node of it.`);
    if (to === START) throw problem('edges', `lead to "${START}", where it only begins.`);
    if (from === START && route !== undefined)
      throw problem('edges', `from "${START}" have a route, which nobody gives there.`);
    const twin = edges.findIndex((other) => other.from === from && other.to === to);
    if (twin !== index)
      throw problem('edges', `lead from "${from}" to "${to}" twice: give one of them both routes.`);
  }
  for (const node of nodes) assertReachable(node, edges, problem);
  const cyclic = names.find((node) => isInUnconditionalCycle(node, edges));
  if (cyclic !== undefined)
    throw problem('edges', `go round from "${cyclic}" without a route: it would never end.`);
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
    throw problem('nodes', `has "${name}", which no edge leads to.`);
  if (kind === 'join' && before.some(({ from }) => from === START))
    throw problem('edges', `lead from "${START}" to "${name}", which joins nodes.`);
}

/** All nodes that something may lead to. */
function reachableNodes(edges: readonly WorkflowEdge[]): ReadonlySet<string> {
  const found = new Set<string>([START]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { from, to } of edges) if (found.has(from)) found.add(to);
  }
  return found;
}

/** True when edges that are always taken lead from a node back to it. */
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

/** The edges that are taken when a node gives this route. */
export function selectEdges(
  edges: readonly WorkflowEdge[],
  route: Route | undefined,
): readonly WorkflowEdge[] {
  const routes = toRouteList(route).map(String);
  const hasRoute = ({ route: of }: WorkflowEdge): boolean =>
    toRouteList(of).some((value) => routes.includes(String(value)));
  const chosen = edges.filter((edge) => edge.route !== undefined && hasRoute(edge));
  const otherwise = edges.filter((edge) => toRouteList(edge.route).includes(DEFAULT_ROUTE));
  return [
    ...edges.filter((edge) => edge.route === undefined),
    ...(chosen.length > 0 ? chosen : otherwise),
  ];
}

function toRouteList(route: Route | undefined): readonly RouteValue[] {
  if (route === undefined) return [];
  return typeof route === 'object' ? route : [route];
}
