import { textOf, checkOptions, optionTable } from '../core/index.ts';
import type { Route, OptionTable } from '../core/index.ts';
import { running } from '../net/index.ts';
import type { AnyPlace, Effect } from '../net/index.ts';
import { FLOW_NAMES } from './flow-definition.ts';
import { agentTool } from './agent-tool.ts';
import type { Agent, AgentRole } from './agent.ts';
import type { AgentUnit } from './agent-unit.ts';
import { composeAgents } from './compose-agents.ts';
import { flowUnit } from './flow-unit.ts';
import { functionEffect, itemEffect } from './node-effect.ts';
import { exposing, ownPlace } from './own-place.ts';
import { answerIn, doneOf, targetOf, toolParked, turnWaiting } from './places.ts';
import type { ConversationItem } from './places.ts';
import type { Speaking } from './speaking.ts';
import type { TurnPart } from './turn-part.ts';
import { checkWorkflow, takenEdges } from './workflow-definition.ts';
import type { WorkflowDefinition, WorkflowNode } from './workflow-definition.ts';
import {
  itemDone,
  joinInput,
  nodeDone,
  nodeItem,
  nodeReady,
  nodeStep,
  nodeWaiting,
  workflowBudget,
  workflowRun,
} from './workflow-places.ts';
import { workflowRules } from './workflow-rules.ts';

/** The options of `workflow`. */
export const WORKFLOW_OPTIONS: OptionTable = optionTable<WorkflowDefinition>('workflow', {
  name: true,
  description: true,
  callbacks: FLOW_NAMES.callbacks,
  extensions: true,
  migrate: true,
  nodes: true,
  edges: true,
  maxSteps: true,
  checkState: true,
});

/**
 * Nodes and edges: functions, agents, lists and joins, each beginning when one before it gives it something, or all of
 * them have. It is done when no node has anything to do. What runs is counted by tokens, and joins by what is there.
 * @throws InvalidInputError, NetBuildError
 */
export function workflow(definition: WorkflowDefinition): Agent {
  checkOptions(WORKFLOW_OPTIONS, definition);
  const maxSteps = checkWorkflow(definition);
  return composeAgents(definition, workflowRole(definition, maxSteps));
}

function workflowRole(definition: WorkflowDefinition, maxSteps: number): AgentRole {
  const { name, nodes, callbacks, extensions = [] } = definition;
  const agents = nodes.flatMap((node) => (node.kind === 'agent' ? [node] : []));
  const lists = nodes.flatMap((node) =>
    node.kind === 'each-agent' ? [agentTool(node.agent)] : [],
  );
  const subPlacement: AgentRole['subPlacement'] = (index, { among }) => {
    const sub = agents[index]?.name ?? '';
    return { among: { branch: branchIn(name, sub, among.branch) }, done: doneOf(sub) };
  };
  return {
    kind: 'workflow',
    subAgents: agents.map(({ agent }) => agent),
    tools: new Map(lists.map((one) => [one.name, one])),
    extensions,
    transfers: { toParent: true, toPeers: true },
    subPlacement,
    unitAt: (placement) => {
      const speaking = (node: string): Speaking => ({
        agentName: node,
        among: { branch: branchIn(name, node, placement.among.branch) },
      });
      const parts = new Map(nodes.map((node) => [node.name, partOf(node, definition, speaking)]));
      const own = [...parts.values()].flatMap(({ places }) => places);
      const effects = [...parts.values()].flatMap(({ effects: of }) => of);
      const joins = nodes
        .filter(({ kind }) => kind === 'join')
        .flatMap((node) =>
          definition.edges
            .filter(({ to }) => to === node.name)
            .map(({ from }) => joinInput(node.name, from)),
        );
      const asks = nodes.some(({ kind }) => kind === 'function');
      const unit = flowUnit(
        {
          kind: 'workflow',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [
            ...agents.flatMap((node) => [targetOf(node.name), doneOf(node.name)]),
            ...(asks ? [answerIn, turnWaiting] : []),
          ],
          dropped: [workflowRun, ...own, ...joins],
          budgets: [workflowBudget],
          transitions: ({ begins, ends, speaking: of }) => [
            ...effects,
            ...workflowRules({
              definition,
              maxSteps,
              begins,
              ends,
              among: of.among ?? {},
              speaking,
              busy: [...own, ...effects.map((t: Effect) => running(t))],
              lastWordsOf: (node, lines, invocationId) =>
                lastWords(speaking(node), lines, invocationId),
            }),
          ],
        },
        placement,
      );
      const queued = (kinds: readonly WorkflowNode['kind'][]): readonly AnyPlace[] =>
        nodes.filter(({ kind }) => kinds.includes(kind)).flatMap((node) => nodeReady(node.name));
      const without = (places: readonly AnyPlace[]): readonly AnyPlace[] =>
        own.filter((place) => places.every((other) => other.name !== place.name));
      const lining = queued(['agent', 'each', 'each-agent']);
      return waitable(unit, {
        name,
        asks,
        branch: branchIn(name, '', placement.among.branch).slice(0, -1),
        // What lines up begins when the one before it is done.
        idle: without(lining),
        besides: without([...lining, ...agents.map((node) => nodeWaiting(node.name))]),
      });
    },
  };
}

/** The places of a node where it has something to do, and what runs it. */
function partOf(
  node: WorkflowNode,
  { edges, checkState }: WorkflowDefinition,
  speaking: (node: string) => Speaking,
): { readonly places: readonly AnyPlace[]; readonly effects: readonly Effect[] } {
  const { name } = node;
  const options = {
    speaking: speaking(name),
    isLast: (route: Route | undefined) =>
      takenEdges(
        edges.filter(({ from }) => from === name),
        route,
      ).length === 0,
    checkState,
  };
  switch (node.kind) {
    case 'function':
      return {
        places: [nodeReady(name), nodeStep(name), nodeDone(name)],
        effects: [functionEffect(node, options)],
      };
    case 'each':
    case 'each-agent':
      return {
        places: [
          nodeReady(name),
          nodeWaiting(name),
          nodeItem(name),
          itemDone(name),
          nodeDone(name),
        ],
        effects: [itemEffect(node, options)],
      };
    case 'agent':
      return { places: [nodeReady(name), nodeWaiting(name), nodeDone(name)], effects: [] };
    case 'join':
      return { places: [nodeDone(name)], effects: [] };
    default:
      return node satisfies never;
  }
}

/** The unit, its nodes being able to wait for answers from outside, beside those of its agents. */
function waitable(
  unit: AgentUnit,
  {
    name,
    asks,
    branch,
    idle,
    besides,
  }: {
    readonly name: string;
    readonly asks: boolean;
    readonly branch: string;
    readonly idle: readonly AnyPlace[];
    readonly besides: readonly AnyPlace[];
  },
): AgentUnit {
  const own = (places: readonly AnyPlace[]): readonly AnyPlace[] =>
    places.map((place) => ownPlace(name, place));
  const beside = { branch, idle: own(besides) };
  if (!asks) return { ...unit, beside };
  const parked = ownPlace(name, toolParked);
  const part: TurnPart = {
    ...unit.part,
    own: (place) => ownPlace(name, place),
    owed: [...unit.part.owed, parked],
  };
  return {
    ...unit,
    net: exposing(unit.net, part),
    part,
    parked,
    idle: own(idle),
    beside,
  };
}

function branchIn(workflow: string, node: string, outer: string | undefined): string {
  return [...(outer === undefined ? [] : [outer]), workflow, node].join('.');
}

/** What an agent, or one of its own, said last in this invocation. */
function lastWords(
  { agentName, among }: Speaking,
  lines: readonly ConversationItem[],
  invocationId: string,
): string {
  const branch = among?.branch ?? agentName;
  const last = lines.findLast(
    (line) =>
      line.invocationId === invocationId &&
      line.author !== undefined &&
      line.content.role === 'model' &&
      `${line.branch ?? ''}.`.startsWith(`${branch}.`) &&
      textOf(line.content) !== '',
  );
  return last === undefined ? '' : textOf(last.content);
}
