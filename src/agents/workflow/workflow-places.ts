import type { Json, JsonObject, NodeInfo, Route, StopReason } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { GeneratorStep } from '../generator/generator-step.ts';
import { object } from '../vocabulary/place-schemas.ts';

/** A running workflow. There is one token; transitions that begin or end a node take it and give it back. */
export interface WorkflowRun {
  readonly invocationId: string;
  readonly round: number;
  /** How many runs of each node have begun. */
  readonly runs: { readonly [node: string]: number };
  /** The outputs of last nodes, by name. */
  readonly outputs: JsonObject;
  readonly escalate?: boolean | undefined;
  /** The stop reason of the first of its agents that ended with another reason than `end_turn`. */
  readonly stopReason?: StopReason | undefined;
}

/** A node that is ready to begin. */
export interface NodeReady {
  readonly input: Json;
  /** The path of the run that led to it. */
  readonly trail: string;
  /** True if its input is already in the conversation. */
  readonly heard?: boolean | undefined;
}

/** A running node, with its progress. The replies to its yields are the answers to its questions. */
export interface NodeStep extends GeneratorStep {
  readonly round: number;
  readonly path: string;
  readonly runId: string;
  readonly input: Json;
  /** The answers to its questions, by the id of the question. */
  readonly answers?: JsonObject | undefined;
  /** The id of the question that it waits for. */
  readonly callId?: string | undefined;
}

/** The `nodeInfo` of the events of a node's run. */
export function toNodeInfo(
  name: string,
  { path, runId }: Pick<NodeStep, 'path' | 'runId'>,
): NodeInfo {
  return { path, runId, name };
}

/** One item of a node that processes a list. */
export interface NodeItem extends NodeStep {
  readonly index: number;
}

/** The output of one item. */
export interface ItemDone {
  readonly index: number;
  readonly output: Json;
}

/** A node that is done. */
export interface NodeDone {
  readonly path: string;
  readonly output?: Json | undefined;
  readonly route?: Route | undefined;
  readonly escalate?: boolean | undefined;
  /** True if its output is already in the conversation. */
  readonly heard?: boolean | undefined;
}

/** The running workflow. */
export const workflowRun: TokenPlace<WorkflowRun> = place('workflow.run', object<WorkflowRun>(), {
  version: 1,
});

/** One token for each step that the nodes may still take in this turn. */
export const workflowBudget: TokenPlace<null> = place('workflow.budget');

/** The place of a node that is ready to begin. */
export function nodeReady(node: string): TokenPlace<NodeReady> {
  return place(`node.ready-${node}`, object<NodeReady>(), { version: 1 });
}

/** The place of a function node that can run to its end or next yield. */
export function nodeStep(node: string): TokenPlace<NodeStep> {
  return place(`node.step-${node}`, object<NodeStep>(), { version: 1 });
}

/** The place where a node waits for its agent, for the items of its list, or for the answer to a question. */
export function nodeWaiting(node: string): TokenPlace<NodeStep> {
  return place(`node.waiting-${node}`, object<NodeStep>(), { version: 1 });
}

/** The place of the items that a node still has to process. */
export function nodeItem(node: string): TokenPlace<NodeItem> {
  return place(`node.item-${node}`, object<NodeItem>(), { version: 1 });
}

/** The place of the outputs of a node's items. */
export function itemDone(node: string): TokenPlace<ItemDone> {
  return place(`node.item-done-${node}`, object<ItemDone>(), { version: 1 });
}

/** The place of a node that is done. */
export function nodeDone(node: string): TokenPlace<NodeDone> {
  return place(`node.done-${node}`, object<NodeDone>(), { version: 1 });
}

/** The place of a join's input from one of the nodes before it. */
export function joinInput(node: string, from: string): TokenPlace<NodeDone> {
  return place(`node.${node}-from-${from}`, object<NodeDone>(), { version: 1 });
}
