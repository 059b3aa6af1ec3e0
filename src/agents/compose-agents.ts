import { InvalidInputError } from '../core/index.ts';
import { compile, compose, initially, net } from '../net/index.ts';
import type { AnyPlace, Migrate, Net, Ports } from '../net/index.ts';
import { agentReturns, returnsAt } from './agent-returns.ts';
import type { AgentReturnsOptions } from './agent-returns.ts';
import { agentEntry } from './agent-entry.ts';
import { statusOf } from './agent-status.ts';
import { childAgentsOf } from './agent-tool.ts';
import type { Agent, AgentRole } from './agent.ts';
import type { AgentUnit, Placement } from './agent-unit.ts';
import {
  targetOf,
  toolCall,
  turnCurrent,
  turnEnding,
  turnPermit,
  turnStopping,
  turnWaiting,
  userIn,
  eventOut,
} from './places.ts';
import { reaches } from './heard-by.ts';
import { eventsOf } from './record-events.ts';
import { sessionWriter } from './session-writer.ts';
import { turnTransfers } from './transfer.ts';
import type { TransferTarget } from './transfer.ts';
import { turnControl } from './turn-control.ts';
import { noCallEffects } from './turn-part.ts';
import type { TurnPart } from './turn-part.ts';
import { turnWait } from './turn-wait.ts';

export interface ComposedAgent {
  readonly name: string;
  readonly description?: string;
  readonly migrate?: Migrate;
  /** How often the agents of a turn may hand it over; 10 unless said. */
  readonly maxTransfers?: number;
}

/** An agent of the session, and where it stands in it. */
interface Placed {
  readonly name: string;
  readonly role: AgentRole;
  readonly placement: Placement;
}

type Named = Pick<Agent, 'name' | 'description' | 'role'>;

const DEFAULT_MAX_TRANSFERS = 10;

/**
 * One net for a session of several agents: each has its own places and transitions, and they meet where one is done and
 * the next begins.
 * @throws InvalidInputError, NetBuildError
 */
export function composeAgents(definition: ComposedAgent, role: AgentRole): Agent {
  const { name, description = '', maxTransfers = DEFAULT_MAX_TRANSFERS } = definition;
  const root: Named = { name, description, role };
  const { placed, groups } = placeAll(root);
  checkNames(placed);
  const units = placed.map((one) => ({ ...one, unit: one.role.unitAt(one.placement) }));
  const transfers = placed.some(({ placement }) => placement.targets.length > 0);
  const entry = agentEntry({ entries: entriesOf(root), ...(transfers && { maxTransfers }) });
  const between: TurnPart = {
    speaking: { agentName: name },
    own: (place) => place,
    callEffects: noCallEffects,
    owed: [],
    dropped: distinct([
      ...placed.map(({ placement: { from } }) => from),
      ...[...placed.map(({ placement }) => placement), ...groups]
        .map(({ done }) => done)
        .filter((done) => isBetween(done)),
      ...groups.flatMap(({ returns }) => [returns.ending, returns.callers]),
    ]),
    budgets: transfers ? [turnTransfers] : [],
  };
  const parts = [between, ...units.map(({ unit }) => unit.part)];
  const whole = compose(name, {
    in: { userIn },
    nets: [
      entry,
      ...units.map(({ unit }) => unit.net),
      ...groups.map((group) => agentReturns(group)),
      waitsOf(units),
      turnControl({ parts }),
      sessionWriter(),
      ...placed.flatMap(({ role: { extensions } }) => extensions),
    ],
    initial: [initially(turnPermit, null)],
  });
  const toolsets = placed.map((one) => one.role.tools);
  return {
    name,
    description,
    net: whole,
    compiled: compile(whole),
    tools: role.tools,
    children: childAgentsOf(toolsets.flatMap((tools) => [...tools.values()])),
    migrate: definition.migrate,
    statusOf,
    eventsOf,
    role,
  };
}

/**
 * Every agent of the session, an agent before those it is made of; and the groups of those that hand the turn to each
 * other and have callbacks after them.
 */
function placeAll(root: Named): {
  readonly placed: readonly Placed[];
  readonly groups: readonly AgentReturnsOptions[];
} {
  const groups: AgentReturnsOptions[] = [];
  const visit = (
    agent: Named,
    given: Pick<Placement, 'among' | 'done' | 'returns'>,
    parent: Named | undefined,
  ): readonly Placed[] => {
    const { name, role } = agent;
    const { globalInstruction } = root.role;
    let at = given;
    const callers = given.returns === undefined ? callersFrom(agent, parent) : [];
    if (callers.length > 0) {
      const returns = returnsAt(name);
      groups.push({ name, returns, callers, done: given.done });
      at = { ...given, done: returns.ending, returns };
    }
    const { returns } = at;
    const placement = {
      ...at,
      from: targetOf(name),
      targets: targetsOf(agent, parent),
      ...(globalInstruction !== undefined && { globalInstruction }),
    };
    return [
      { name, role, placement },
      ...role.subAgents.flatMap((sub, index) => {
        const own = role.subPlacement(index, at);
        const within = role.kind === 'model' && returns !== undefined && { returns };
        return visit(sub, { ...own, ...within }, agent);
      }),
    ];
  };
  return { placed: visit(root, { among: {}, done: turnEnding }, undefined), groups };
}

/** Of an agent and those that share its turn with it, the ones that may hand it over and have callbacks after them. */
function callersFrom(agent: Named, parent: Named | undefined): readonly string[] {
  const { name, role } = agent;
  const own = role.hasAfterAgent === true && targetsOf(agent, parent).length > 0 ? [name] : [];
  const below =
    role.kind === 'model' ? role.subAgents.flatMap((sub) => callersFrom(sub, agent)) : [];
  return [...own, ...below];
}

/**
 * Whom an agent may hand the turn to: its own agents; its parent and that one's, where models decide and nobody minds.
 * Agents that are made of others do not decide; a custom one does, and gives its own agents their turns by itself.
 */
function targetsOf({ name, role }: Named, parent: Named | undefined): readonly TransferTarget[] {
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
function entriesOf({ name, role }: Named): readonly string[] {
  if (role.kind !== 'model') return [name];
  const subs = role.subAgents.filter(
    (sub) => sub.role.kind === 'model' && sub.role.transfers.toParent,
  );
  return [name, ...subs.flatMap(entriesOf)];
}

/** That the turn waits is said by the agent whose calls do, when those beside it have nothing under way either. */
function waitsOf(units: readonly (Placed & { readonly unit: AgentUnit })[]): Net {
  const waiting = units.flatMap((one) =>
    one.unit.parked === undefined ? [] : [{ ...one, parked: one.unit.parked }],
  );
  const watched: AnyPlace[] = [];
  const transitions = waiting.map(({ name, unit, parked, placement }) => {
    const { branch } = placement.among;
    const beside = units.filter((other) => isBeside(branch, other.placement.among.branch));
    const around = units.flatMap(({ unit: other }) =>
      other.beside !== undefined && other !== unit && reaches(other.beside.branch, branch ?? '')
        ? [other]
        : [],
    );
    watched.push(...around.flatMap((other) => other.beside?.idle ?? []));
    const wait = turnWait({
      parked,
      others: [...beside.map((other) => other.unit), ...around].flatMap(
        (other) => other.parked ?? [],
      ),
      idle: [
        ...toDoIn(unit),
        ...unit.running,
        ...beside.flatMap((other) => other.unit.running),
        ...around.flatMap((other) => [...other.running, ...(other.beside?.idle ?? [])]),
      ],
    });
    return { ...wait, name: `${name}/${wait.name}` };
  });
  const held = [...waiting.flatMap(({ unit, parked }) => [parked, ...toDoIn(unit)]), ...watched];
  return net('turn-waits', {
    in: { ...portsOf(held), turnCurrent, turnStopping },
    out: { turnCurrent, turnWaiting, eventOut },
    transitions,
  });
}

/** Where an agent that can wait has something to do all the same. */
function toDoIn({ idle, part }: AgentUnit): readonly AnyPlace[] {
  return idle ?? [part.own(toolCall)];
}

/** True for the branches of agents that work side by side. */
function isBeside(a: string | undefined, b: string | undefined): boolean {
  return !reaches(a, b) && !reaches(b, a);
}

/** @throws InvalidInputError: a transfer, an event and a place name an agent by its name alone */
function checkNames(placed: readonly Placed[]): void {
  const names = placed.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new InvalidInputError(
    'subAgents',
    `has two agents called "${twice}": in one session each has a name of its own.`,
  );
}

/** Where an agent is done and another goes on, and nobody's own place. */
function isBetween({ name }: AnyPlace): boolean {
  return name.startsWith('done/');
}

function portsOf(places: readonly AnyPlace[]): Ports {
  return Object.fromEntries(places.map((place) => [place.name, place]));
}

function distinct<P extends AnyPlace>(places: readonly P[]): readonly P[] {
  return [...new Map(places.map((place) => [place.name, place])).values()];
}
