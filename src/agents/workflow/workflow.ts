import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { running } from '../../net/index.ts';
import type { AnyPlace, Effect } from '../../net/index.ts';
import { COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import { agentTool } from '../tools/agent-tool.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import type { AgentSubnet } from '../agent/agent-subnet.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { compositeSubnet } from '../composition/composite-subnet.ts';
import { lastMessageText } from './last-message-text.ts';
import { createNodeRuns } from './node-runs.ts';
import { toBranch } from '../vocabulary/agent-identity.ts';
import { buildNodePart } from './node-part.ts';
import { scopedPlace } from '../turn/scoped-place.ts';
import { withPorts } from '../turn/turn-resources.ts';
import { answerIn } from '../vocabulary/messages.ts';
import { turnWaiting } from '../vocabulary/turn.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { TurnResources } from '../turn/turn-resources.ts';
import { checkWorkflow } from './check-workflow.ts';
import type { WorkflowDefinition, WorkflowNodeDefinition } from './workflow-definition.ts';
import {
  joinInput,
  nodeReady,
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
  outcomes: COMPOSITE_OPTION_NAMES.outcomes,
  migrate: true,
  nodes: true,
  edges: true,
  maxSteps: true,
  checkState: true,
});

/**
 * Creates an agent from nodes and edges. A function, agent or list node begins when a node before it is done; a join
 * begins when all nodes before it are done. The workflow is done when no node has work to do.
 * @throws InvalidInputError, UnknownFieldError, NetBuildError
 */
export function workflow(definition: WorkflowDefinition): Agent {
  checkDefinition(WORKFLOW_OPTIONS, definition);
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
      multiAgent: { branch: toBranch(name, sub, multiAgent.branch) },
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
    listNodeRuns: createNodeRuns(nodes),
    buildSubnet: (slot) => {
      const nodeIdentity = (node: string): AgentIdentity => ({
        agentName: node,
        multiAgent: { branch: toBranch(name, node, slot.multiAgent.branch) },
      });
      const parts = new Map(
        nodes.map((node) => [node.name, buildNodePart(node, definition, nodeIdentity)]),
      );
      const nodePlaces = [...parts.values()].flatMap(({ places }) => places);
      const effects = [...parts.values()].flatMap(({ effects: of }) => of);
      const joins = nodes
        .filter(({ kind }) => kind === 'join')
        .flatMap((node) =>
          definition.edges
            .filter(({ to }) => to === node.name)
            .map(({ from }) => joinInput(node.name, from)),
        );
      const canAsk = nodes.some(({ kind }) => kind === 'function');
      const subnet = compositeSubnet(
        {
          kind: 'workflow',
          name,
          ...omitUndefined({ callbacks }),
          shared: [
            ...agents.flatMap((node) => [targetPlace(node.name), donePlace(node.name)]),
            ...(canAsk ? [answerIn, turnWaiting] : []),
          ],
          discardable: [
            workflowRun,
            ...nodePlaces,
            ...joins,
            ...nodes.flatMap(({ kind, name: node }) =>
              kind === 'function' ? [nodeWaiting(node)] : [],
            ),
          ],
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
              busy: [...nodePlaces, ...effects.map((t: Effect) => running(t))],
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
        nodePlaces.filter((place) => places.every((other) => other.name !== place.name));
      const queuedPlaces = queued(['agent', 'each', 'each-agent']);
      return withParkedInputs(subnet, {
        name,
        canAsk,
        branch: toBranch(name, '', slot.multiAgent.branch).slice(0, -1),
        // A queued run cannot begin before the current run of its node is done, so it is not work to do.
        workPlaces: without(queuedPlaces),
        workBesideAgents: without([
          ...queuedPlaces,
          ...agents.map((node) => nodeWaiting(node.name)),
        ]),
      });
    },
  };
}

/** Adds the parked questions of the workflow's nodes to its subnet, beside the parked calls of its agents. */
function withParkedInputs(
  subnet: AgentSubnet,
  {
    name,
    canAsk,
    branch,
    workPlaces,
    workBesideAgents,
  }: {
    readonly name: string;
    readonly canAsk: boolean;
    readonly branch: string;
    /** Places whose tokens mean work to do. */
    readonly workPlaces: readonly AnyPlace[];
    /** Places whose tokens mean work to do while agents of the workflow wait. */
    readonly workBesideAgents: readonly AnyPlace[];
  },
): AgentSubnet {
  const scopedPlaces = (places: readonly AnyPlace[]): readonly AnyPlace[] =>
    places.map((place) => scopedPlace(name, place));
  const whileWaiting = { branch, workPlaces: scopedPlaces(workBesideAgents) };
  if (!canAsk) return { ...subnet, whileWaiting };
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
    workPlaces: scopedPlaces(workPlaces),
    whileWaiting,
  };
}
