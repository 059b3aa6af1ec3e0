import type { Json, JsonObject, Route, StopReason } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { object } from '../vocabulary/place-schemas.ts';

/** A workflow that runs. There is one token, which whoever begins or ends a node takes and gives back. */
export interface WorkflowRun {
  readonly invocationId: string;
  readonly round: number;
  /** How often each node has begun. */
  readonly runs: { readonly [node: string]: number };
  /** What the last nodes gave. */
  readonly outputs: JsonObject;
  readonly escalate?: boolean | undefined;
  /** How the first of its agents ended that did not simply end. */
  readonly stopReason?: StopReason | undefined;
}

/** A node that is to begin. */
export interface NodeReady {
  readonly input: Json;
  /** The path of the run before it. */
  readonly trail: string;
  /** What it gets is in the conversation already. */
  readonly heard?: boolean | undefined;
}

/** A node that runs, after so many yields. */
export interface NodeStep {
  readonly invocationId: string;
  readonly round: number;
  readonly path: string;
  readonly runId: string;
  readonly input: Json;
  /** Names the run: the same over crashes and retries. */
  readonly activation: string;
  readonly yielded: number;
  readonly output?: Json | undefined;
  readonly route?: Route | undefined;
  /** It asked to leave the loop around its workflow. */
  readonly escalate?: boolean | undefined;
  /** What was said to what it asked, by the id of the question, and by the yield that asked. */
  readonly answers?: JsonObject | undefined;
  readonly replies?: JsonObject | undefined;
}

/** One item of a node that works on a list. */
export interface NodeItem extends NodeStep {
  readonly index: number;
}

/** What one item gave. */
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
  /** Its output is what an agent said. */
  readonly heard?: boolean | undefined;
}

export const workflowRun: TokenPlace<WorkflowRun> = place('workflow.run', object<WorkflowRun>(), {
  version: 1,
});

/** How many steps the nodes may still take in this turn. */
export const workflowBudget: TokenPlace<null> = place('workflow.budget');

export function nodeReady(node: string): TokenPlace<NodeReady> {
  return place(`node.ready-${node}`, object<NodeReady>(), { version: 1 });
}

export function nodeStep(node: string): TokenPlace<NodeStep> {
  return place(`node.step-${node}`, object<NodeStep>(), { version: 1 });
}

/** Where the run of an agent, or of a list, waits until that is done. */
export function nodeWaiting(node: string): TokenPlace<NodeStep> {
  return place(`node.waiting-${node}`, object<NodeStep>(), { version: 1 });
}

export function nodeItem(node: string): TokenPlace<NodeItem> {
  return place(`node.item-${node}`, object<NodeItem>(), { version: 1 });
}

export function itemDone(node: string): TokenPlace<ItemDone> {
  return place(`node.item-done-${node}`, object<ItemDone>(), { version: 1 });
}

export function nodeDone(node: string): TokenPlace<NodeDone> {
  return place(`node.done-${node}`, object<NodeDone>(), { version: 1 });
}

/** What a node that joins has from one of those before it. */
export function joinInput(node: string, from: string): TokenPlace<NodeDone> {
  return place(`node.${node}-from-${from}`, object<NodeDone>(), { version: 1 });
}
