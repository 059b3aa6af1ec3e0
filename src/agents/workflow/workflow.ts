import { contentText, checkOptions, optionTable } from '../../core/index.ts';
import type { Route, OptionTable } from '../../core/index.ts';
import { running } from '../../net/index.ts';
import type { AnyPlace, Effect } from '../../net/index.ts';
import { COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import { agentTool } from '../tools/agent-tool.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import type { AgentSubnet } from '../agent/agent-subnet.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { compositeSubnet } from '../composition/composite-subnet.ts';
import { functionEffect, itemEffect } from './node-effect.ts';
import { scopedPlace } from '../turn/scoped-place.ts';
import { withPorts } from '../turn/turn-resources.ts';
import { answerIn } from '../vocabulary/messages.ts';
import { turnWaiting } from '../vocabulary/turn.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { TurnResources } from '../turn/turn-resources.ts';
import { checkWorkflow, selectEdges } from './workflow-definition.ts';
import type { WorkflowDefinition, WorkflowNodeDefinition } from './workflow-definition.ts';
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
  callbacks: COMPOSITE_OPTION_NAMES.callbacks,
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
  const childSlot: AgentRole['childSlot'] = (index, { multiAgent }) => {
    const sub = agents[index]?.name ?? '';
    return {
      multiAgent: { branch: nodeBranch(name, sub, multiAgent.branch) },
      done: donePlace(sub),
    };
  };
  return {
    kind: 'workflow',
    subAgents: agents.map(({ agent }) => agent),
    tools: new Map(lists.map((one) => [one.name, one])),
    extensions,
    transfers: { toParent: true, toPeers: true },
    childSlot,
    buildSubnet: (slot) => {
      const nodeIdentity = (node: string): AgentIdentity => ({
        agentName: node,
        multiAgent: { branch: nodeBranch(name, node, slot.multiAgent.branch) },
      });
      const parts = new Map(
        nodes.map((node) => [node.name, buildNodePart(node, definition, nodeIdentity)]),
      );
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
      const subnet = compositeSubnet(
        {
          kind: 'workflow',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [
            ...agents.flatMap((node) => [targetPlace(node.name), donePlace(node.name)]),
            ...(asks ? [answerIn, turnWaiting] : []),
          ],
          discardable: [workflowRun, ...own, ...joins],
          budgets: [workflowBudget],
          transitions: ({ startPlace, endPlace, identity: of }) => [
            ...effects,
            ...workflowRules({
              definition,
              maxSteps,
              startPlace,
              endPlace,
              multiAgent: of.multiAgent ?? {},
              nodeIdentity,
              busy: [...own, ...effects.map((t: Effect) => running(t))],
              lastMessageText: (node, lines, invocationId) =>
                lastMessageText(nodeIdentity(node), lines, invocationId),
            }),
          ],
        },
        slot,
      );
      const queued = (kinds: readonly WorkflowNodeDefinition['kind'][]): readonly AnyPlace[] =>
        nodes.filter(({ kind }) => kinds.includes(kind)).flatMap((node) => nodeReady(node.name));
      const without = (places: readonly AnyPlace[]): readonly AnyPlace[] =>
        own.filter((place) => places.every((other) => other.name !== place.name));
      const queuedPlaces = queued(['agent', 'each', 'each-agent']);
      return withParkedInputs(subnet, {
        name,
        asks,
        branch: nodeBranch(name, '', slot.multiAgent.branch).slice(0, -1),
        // What lines up begins when the one before it is done.
        idle: without(queuedPlaces),
        besides: without([...queuedPlaces, ...agents.map((node) => nodeWaiting(node.name))]),
      });
    },
  };
}

/** The places of a node where it has something to do, and what runs it. */
function buildNodePart(
  node: WorkflowNodeDefinition,
  { edges, checkState }: WorkflowDefinition,
  nodeIdentity: (node: string) => AgentIdentity,
): { readonly places: readonly AnyPlace[]; readonly effects: readonly Effect[] } {
  const { name } = node;
  const options = {
    identity: nodeIdentity(name),
    isLast: (route: Route | undefined) =>
      selectEdges(
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
function withParkedInputs(
  subnet: AgentSubnet,
  {
    name,
    asks,
    branch,
    idle: pendingWork,
    besides: concurrentWork,
  }: {
    readonly name: string;
    readonly asks: boolean;
    readonly branch: string;
    readonly idle: readonly AnyPlace[];
    readonly besides: readonly AnyPlace[];
  },
): AgentSubnet {
  const own = (places: readonly AnyPlace[]): readonly AnyPlace[] =>
    places.map((place) => scopedPlace(name, place));
  const whileWaiting = { branch, workPlaces: own(concurrentWork) };
  if (!asks) return { ...subnet, whileWaiting };
  const parked = scopedPlace(name, toolParked);
  const resources: TurnResources = {
    ...subnet.resources,
    scoped: (place) => scopedPlace(name, place),
    mustAnswer: [...subnet.resources.mustAnswer, parked],
  };
  return {
    ...subnet,
    net: withPorts(subnet.net, resources),
    resources,
    parked,
    workPlaces: own(pendingWork),
    whileWaiting,
  };
}

function nodeBranch(workflow: string, node: string, outer: string | undefined): string {
  return [...(outer === undefined ? [] : [outer]), workflow, node].join('.');
}

/** What an agent, or one of its own, said last in this invocation. */
function lastMessageText(
  { agentName, multiAgent }: AgentIdentity,
  lines: readonly ConversationItem[],
  invocationId: string,
): string {
  const branch = multiAgent?.branch ?? agentName;
  const last = lines.findLast(
    (line) =>
      line.invocationId === invocationId &&
      line.author !== undefined &&
      line.content.role === 'model' &&
      `${line.branch ?? ''}.`.startsWith(`${branch}.`) &&
      contentText(line.content) !== '',
  );
  return last === undefined ? '' : contentText(last.content);
}
