import { InvalidInputError } from '../../core/index.ts';
import { compile, compose, initialToken, net } from '../../net/index.ts';
import type { AnyPlace, Migrate, Net, Ports } from '../../net/index.ts';
import { agentReturns, returnPlaces } from '../transfer/agent-returns.ts';
import type { AgentReturnsOptions } from '../transfer/agent-returns.ts';
import { multiAgentTurnStart } from './multi-agent-turn-start.ts';
import { readStatus } from '../agent/read-status.ts';
import { collectChildAgents } from '../tools/agent-tool.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import type { AgentSubnet, AgentSlot } from '../agent/agent-subnet.ts';
import { userIn, eventOut } from '../vocabulary/messages.ts';
import { turnCurrent, turnEnding, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { toolCall } from '../vocabulary/tool-call.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { isBranchVisible } from '../prompt/visible-contents.ts';
import { recordEvents } from '../turn/record-events.ts';
import { sessionWriter } from '../state/session-writer.ts';
import { transferBudget } from '../transfer/transfer.ts';
import type { TransferTarget } from '../transfer/transfer.ts';
import { turnControl } from '../turn/turn-control.ts';
import { noCallEffects } from '../turn/turn-resources.ts';
import type { TurnResources } from '../turn/turn-resources.ts';
import { turnWait } from '../turn/turn-wait.ts';

export interface ComposedAgent {
  readonly name: string;
  readonly description?: string;
  readonly migrate?: Migrate;
  /** How often the agents of a turn may hand it over; 10 unless said. */
  readonly maxTransfers?: number;
}

/** An agent of the session, and where it stands in it. */
interface PlacedAgent {
  readonly name: string;
  readonly role: AgentRole;
  readonly slot: AgentSlot;
}

type AgentInfo = Pick<Agent, 'name' | 'description' | 'role'>;

const DEFAULT_MAX_TRANSFERS = 10;

/**
 * One net for a session of several agents: each has its own places and transitions, and they meet where one is done and
 * the next begins.
 * @throws InvalidInputError, NetBuildError
 */
export function composeAgents(definition: ComposedAgent, role: AgentRole): Agent {
  const { name, description = '', maxTransfers = DEFAULT_MAX_TRANSFERS } = definition;
  const root: AgentInfo = { name, description, role };
  const { placed, groups } = placeAgents(root);
  assertUniqueNames(placed);
  const subnets = placed.map((one) => ({ ...one, subnet: one.role.buildSubnet(one.slot) }));
  const transfers = placed.some(({ slot }) => slot.targets.length > 0);
  const entry = multiAgentTurnStart({
    entryAgents: listEntryAgents(root),
    ...(transfers && { maxTransfers }),
  });
  const shared: TurnResources = {
    identity: { agentName: name },
    scoped: (place) => place,
    callEffects: noCallEffects,
    mustAnswer: [],
    discardable: uniquePlaces([
      ...placed.map(({ slot: { from } }) => from),
      ...[...placed.map(({ slot }) => slot), ...groups]
        .map(({ done }) => done)
        .filter((done) => isDonePlace(done)),
      ...groups.flatMap(({ returns }) => [returns.ending, returns.callers]),
    ]),
    budgets: transfers ? [transferBudget] : [],
  };
  const resources = [shared, ...subnets.map(({ subnet: unit }) => unit.resources)];
  const composed = compose(name, {
    in: { userIn },
    nets: [
      entry,
      ...subnets.map(({ subnet: unit }) => unit.net),
      ...groups.map((group) => agentReturns(group)),
      turnWaits(subnets),
      turnControl({ resources }),
      sessionWriter(),
      ...placed.flatMap(({ role: { extensions } }) => extensions),
    ],
    initial: [initialToken(turnPermit, null)],
  });
  const toolsets = placed.map((one) => one.role.tools);
  return {
    name,
    description,
    net: composed,
    compiled: compile(composed),
    tools: role.tools,
    children: collectChildAgents(toolsets.flatMap((tools) => [...tools.values()])),
    migrate: definition.migrate,
    readStatus,
    recordEvents,
    role,
  };
}

/**
 * Every agent of the session, an agent before those it is made of; and the groups of those that hand the turn to each
 * other and have callbacks after them.
 */
function placeAgents(root: AgentInfo): {
  readonly placed: readonly PlacedAgent[];
  readonly groups: readonly AgentReturnsOptions[];
} {
  const groups: AgentReturnsOptions[] = [];
  const visit = (
    agent: AgentInfo,
    inherited: Pick<AgentSlot, 'multiAgent' | 'done' | 'returns'>,
    parent: AgentInfo | undefined,
  ): readonly PlacedAgent[] => {
    const { name, role } = agent;
    const { globalInstruction } = root.role;
    let current = inherited;
    const callers = inherited.returns === undefined ? listCallers(agent, parent) : [];
    if (callers.length > 0) {
      const returns = returnPlaces(name);
      groups.push({ name, returns, callers, done: inherited.done });
      current = { ...inherited, done: returns.ending, returns };
    }
    const { returns } = current;
    const slot = {
      ...current,
      from: targetPlace(name),
      targets: listTransferTargets(agent, parent),
      ...(globalInstruction !== undefined && { globalInstruction }),
    };
    return [
      { name, role, slot },
      ...role.subAgents.flatMap((sub, index) => {
        const own = role.childSlot(index, current);
        const within = role.kind === 'model' && returns !== undefined && { returns };
        return visit(sub, { ...own, ...within }, agent);
      }),
    ];
  };
  return { placed: visit(root, { multiAgent: {}, done: turnEnding }, undefined), groups };
}

/** Of an agent and those that share its turn with it, the ones that may hand it over and have callbacks after them. */
function listCallers(agent: AgentInfo, parent: AgentInfo | undefined): readonly string[] {
  const { name, role } = agent;
  const own =
    role.hasAfterAgent === true && listTransferTargets(agent, parent).length > 0 ? [name] : [];
  const below =
    role.kind === 'model' ? role.subAgents.flatMap((sub) => listCallers(sub, agent)) : [];
  return [...own, ...below];
}

/**
 * Whom an agent may hand the turn to: its own agents; its parent and that one's, where models decide and nobody minds.
 * Agents that are made of others do not decide; a custom one does, and gives its own agents their turns by itself.
 */
function listTransferTargets(
  { name, role }: AgentInfo,
  parent: AgentInfo | undefined,
): readonly TransferTarget[] {
  if (role.kind !== 'model' && role.kind !== 'custom') return [];
  const own = role.kind === 'model' ? role.subAgents : [];
  const beside = parent?.role.kind === 'model' ? parent : undefined;
  const above = beside !== undefined && role.transfers.toParent ? [beside] : [];
  const peers =
    beside !== undefined && role.transfers.toPeers
      ? beside.role.subAgents.filter((peer) => peer.name !== name)
      : [];
  return [...own, ...above, ...peers].map(({ name: to, description }) => ({
    name: to,
    description,
  }));
}

/** The agents that a message may find speaking: the first, and those that could hand the turn back to it. */
function listEntryAgents({ name, role }: AgentInfo): readonly string[] {
  if (role.kind !== 'model') return [name];
  const subs = role.subAgents.filter(
    (sub) => sub.role.kind === 'model' && sub.role.transfers.toParent,
  );
  return [name, ...subs.flatMap(listEntryAgents)];
}

/** That the turn waits is said by the agent whose calls do, when those beside it have nothing under way either. */
function turnWaits(subnets: readonly (PlacedAgent & { readonly subnet: AgentSubnet })[]): Net {
  const waiting = subnets.flatMap((one) =>
    one.subnet.parked === undefined ? [] : [{ ...one, parked: one.subnet.parked }],
  );
  const watchedPlaces: AnyPlace[] = [];
  const transitions = waiting.map(({ name, subnet: unit, parked, slot }) => {
    const { branch } = slot.multiAgent;
    const beside = subnets.filter((other) =>
      isConcurrentBranch(branch, other.slot.multiAgent.branch),
    );
    const around = subnets.flatMap(({ subnet: other }) =>
      other.whileWaiting !== undefined &&
      other !== unit &&
      isBranchVisible(other.whileWaiting.branch, branch ?? '')
        ? [other]
        : [],
    );
    watchedPlaces.push(...around.flatMap((other) => other.whileWaiting?.workPlaces ?? []));
    const wait = turnWait({
      parked,
      others: [...beside.map((other) => other.subnet), ...around].flatMap(
        (other) => other.parked ?? [],
      ),
      idle: [
        ...workPlacesIn(unit),
        ...unit.running,
        ...beside.flatMap((other) => other.subnet.running),
        ...around.flatMap((other) => [...other.running, ...(other.whileWaiting?.workPlaces ?? [])]),
      ],
    });
    return { ...wait, name: `${name}/${wait.name}` };
  });
  const held = [
    ...waiting.flatMap(({ subnet: unit, parked }) => [parked, ...workPlacesIn(unit)]),
    ...watchedPlaces,
  ];
  return net('turn-waits', {
    in: { ...toPorts(held), turnCurrent, turnStopping },
    out: { turnCurrent, turnWaiting, eventOut },
    transitions,
  });
}

/** Where an agent that can wait has something to do all the same. */
function workPlacesIn({ workPlaces, resources: part }: AgentSubnet): readonly AnyPlace[] {
  return workPlaces ?? [part.scoped(toolCall)];
}

/** True for the branches of agents that work side by side. */
function isConcurrentBranch(a: string | undefined, b: string | undefined): boolean {
  return !isBranchVisible(a, b) && !isBranchVisible(b, a);
}

/** @throws InvalidInputError: a transfer, an event and a place name an agent by its name alone */
function assertUniqueNames(placed: readonly PlacedAgent[]): void {
  const names = placed.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new InvalidInputError(
    'subAgents',
    `has two agents called "${duplicate}": in one session each has a name of its own.`,
  );
}

/** Where an agent is done and another goes on, and nobody's own place. */
function isDonePlace({ name }: AnyPlace): boolean {
  return name.startsWith('done/');
}

function toPorts(places: readonly AnyPlace[]): Ports {
  return Object.fromEntries(places.map((place) => [place.name, place]));
}

function uniquePlaces<P extends AnyPlace>(places: readonly P[]): readonly P[] {
  return [...new Map(places.map((place) => [place.name, place])).values()];
}
