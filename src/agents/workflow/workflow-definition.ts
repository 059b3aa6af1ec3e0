import type { Json, Route } from '../../core/index.ts';
import type { AnyPlace, Retry, TokenPlace } from '../../net/index.ts';
import type { StateWrites } from '../../core/index.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { Agent } from '../agent/agent.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import type { NodeContext } from './node-context.ts';

/** The `from` of edges that lead to the first nodes of a workflow. */
export const START = 'START';
/** The route of an edge that is followed when no other edge with a route is. */
export const DEFAULT_ROUTE = '__DEFAULT__';

/** The function of a node. Returns an output, a `NodeEvent`, a `RequestInput` or content; or a generator of these. */
export type NodeBody = (context: NodeContext, input: Json) => unknown;

interface FunctionNodeBase {
  readonly name: string;
  readonly run: NodeBody;
  /** How long a run may take, in milliseconds; for a generator, the step between two yields. Default: 5 minutes. */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
  /**
   * How the node continues after a question and after a crash.
   * - missing: the answer to its question is its output; after a crash it runs again.
   * - `true`: it runs again, or resumes, with the answer; after a crash it runs again.
   * - `false`: the answer is its output; a run that was cut off by a crash fails.
   */
  readonly rerunOnResume?: boolean;
  /** Validates and converts the input. Throws to reject it. */
  readonly parseInput?: (input: Json) => Json;
  /** Validates and converts the output. Throws to reject it. */
  readonly parseOutput?: (output: Json) => Json;
}

/** A node that is a function. Each yield of a generator is committed before it continues. */
export interface FunctionNodeDefinition extends FunctionNodeBase {
  readonly kind: 'function';
}

/** A node that runs a function for each item of a list, several at once. Its output is the list of outputs, in order. */
export interface EachNodeDefinition extends FunctionNodeBase {
  readonly kind: 'each';
  /** How many items run at once. Default: 8. */
  readonly maxAtOnce?: number;
}

/**
 * A node that runs an agent for each item of a list, each in a child session. An item whose agent waits for a person stays
 * in flight, and fails after `timeoutMs`.
 */
export interface EachAgentNodeDefinition {
  readonly kind: 'each-agent';
  readonly name: string;
  readonly agent: Agent;
  /** How many items run at once. Default: 8. */
  readonly maxAtOnce?: number;
  /** How long one item may take, in milliseconds. Default: 5 minutes. */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
}

/** A node that is an agent of the workflow's session. It sees the user's messages, its own, and the output of the node before it. */
export interface AgentNodeDefinition {
  readonly kind: 'agent';
  readonly name: string;
  readonly agent: Agent;
  /** Converts its last message to its output. Default: the text. */
  readonly toOutput?: (text: string) => Json;
}

/** A node that waits until all nodes before it are done. Its output has their outputs by their names. */
export interface JoinNodeDefinition {
  readonly kind: 'join';
  readonly name: string;
}

/** A node of a workflow. Its name is unique in the workflow; edges refer to it. */
export type WorkflowNodeDefinition =
  | FunctionNodeDefinition
  | EachNodeDefinition
  | EachAgentNodeDefinition
  | AgentNodeDefinition
  | JoinNodeDefinition;

/**
 * Leads from a node, or from `START`, to a node. The output of the first is the input of the second. Two nodes may have
 * at most one edge between them in each direction.
 */
export interface WorkflowEdge {
  readonly from: string;
  readonly to: string;
  /** Followed when the node gives one of these routes. If missing, always followed. */
  readonly route?: Route;
}

/** The nodes and edges of a workflow. ADK's `Workflow`. */
export interface WorkflowDefinition extends Omit<CompositeAgentDefinition, 'subAgents'> {
  readonly nodes: readonly WorkflowNodeDefinition[];
  readonly edges: readonly WorkflowEdge[];
  /** The most steps of its nodes in one turn, from 1 to 10,000. Each run and each yield is a step. Default: 100. */
  readonly maxSteps?: number;
  /** Throws when a node may not write these values to state. */
  readonly checkState?: (writes: StateWrites) => void;
}

/** Options of the transitions that connect the nodes of a workflow. */
export interface WorkflowRulesOptions {
  readonly definition: WorkflowDefinition;
  readonly maxSteps: number;
  readonly startPlace: TokenPlace<ModelCall>;
  readonly endPlace: TokenPlace<Ending>;
  readonly multiAgent: NonNullable<AgentIdentity['multiAgent']>;
  readonly nodeIdentity: (node: string) => AgentIdentity;
  /** The workflow is not done while one of these places has a token. */
  readonly busy: readonly AnyPlace[];
  readonly lastMessageText: (
    node: string,
    lines: readonly ConversationItem[],
    invocationId: string,
  ) => string;
}
