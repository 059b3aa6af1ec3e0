import { faultPlace } from '../../net/index.ts';
import type { CompiledNet } from '../../net/index.ts';
import { parseRunningPlaceName, scopedName } from '../../net/internal.ts';
import type { CompiledTransition } from '../../net/internal.ts';
import type { ComponentTree, NetComponent } from '../../verify/index.ts';
import type { Agent } from '../agent/agent.ts';
import { agentContract } from '../agent/agent-contract.ts';
import type { AgentPorts } from '../agent/agent-contract.ts';
import type { AgentSlot } from '../agent/agent-subnet.ts';
import { outcomeContract } from '../outcomes/outcome-contract.ts';
import {
  outcomeActive,
  outcomeGrading,
  outcomeIn,
  outcomeInterrupted,
  outcomeNext,
  outcomeRound,
  outcomeVerdict,
  outcomeWaiting,
} from '../outcomes/outcome-places.ts';
import { agentReturning, returnPlaces } from '../transfer/agent-returns.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { scopedPlace } from '../turn/scoped-place.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { agentEnded, agentStarting, targetPlace } from '../vocabulary/handover.ts';
import { userIn } from '../vocabulary/messages.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import {
  sessionArchived,
  sessionClosing,
  sessionCompleted,
  sessionPaused,
} from '../vocabulary/session.ts';
import { sessionWrite } from '../vocabulary/state.ts';
import { turnCurrent, turnEnding, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import { findConsumers } from './net-queries.ts';

type Inherited = Pick<AgentSlot, 'multiAgent' | 'done'>;
type AgentPart = Pick<Agent, 'name' | 'role'>;

/** Places that the proofs of all agents look at: the signals of the turn, and the pause that holds it. */
const signals = [
  turnCurrent,
  turnWaiting,
  turnStopping,
  stopRequested,
  transferBudget,
  sessionPaused,
  faultPlace,
];

/** What the outcome rounds and the session tell each other beside `signals`: whether a turn may start. */
const outcomeSignals = [turnPermit, sessionArchived, sessionCompleted];

/** True for a session of one agent, which has no place that gives it the turn. */
export function isSingleAgent(agent: Agent): boolean {
  return !agent.compiled.places.has(targetPlace(agent.name).name);
}

/**
 * The agents of a session as components with contracts: each keeps the places of its own subnet. Agents that transfer
 * the turn to each other are one component that contains them.
 * @param judges true if the outcome rounds of a session of one agent are a component, too
 */
export function agentComponents(agent: Agent, judges: boolean = false): ComponentTree {
  const { places } = agent.compiled;
  const shared = [...signals, ...(judges ? outcomeSignals : [])]
    .map(({ name }) => name)
    .filter((name) => places.has(name));
  if (isSingleAgent(agent)) {
    const { port, child } = singleAgent(agent.name, agent.compiled, shared, judges);
    if (!judges) return { shared, ports: [port], children: [child] };
    const ports = [port, ...outcomePorts.map(({ name }) => name)];
    return { shared, ports, children: [child, outcomeComponent(agent.compiled, port)] };
  }
  const root = new ComponentBuilder(agent.compiled).build(agent, {
    multiAgent: {},
    done: turnEnding,
  });
  return {
    shared,
    ports: root.contract.events.flatMap(({ name, on }) =>
      name === 'start' ? (on.gives ?? []) : [],
    ),
    children: [root],
  };
}

class ComponentBuilder {
  readonly #net: CompiledNet;
  readonly #places: readonly string[];

  constructor(net: CompiledNet) {
    this.#net = net;
    const tokens = [...net.places.values()].filter(({ kind }) => kind === 'tokens');
    const effects = net.transitions.filter(({ spec }) => spec.kind === 'effect');
    this.#places = [...tokens.map(({ name }) => name), ...effects.map(({ running }) => running)];
  }

  build(agent: AgentPart, inherited: Inherited): NetComponent {
    return agent.role.kind === 'model' && agent.role.subAgents.length > 0
      ? this.#buildGroup(agent, inherited)
      : this.#buildAgent(agent, inherited, []);
  }

  /** An agent with a model and the agents below it, which may all transfer the turn. */
  #buildGroup(agent: AgentPart, inherited: Inherited): NetComponent {
    const { name } = agent;
    const returns = returnPlaces(name);
    const hasReturns = this.#net.places.has(returns.ending.name);
    const within = hasReturns ? { ...inherited, done: returns.ending } : inherited;
    const members = listMembers(agent, within);
    const starts = members.map(([member]) => targetPlace(member.name).name);
    const transition = scopedName(name, 'agent.return');
    const children = members.map(([member, slot]) =>
      this.#buildAgent(
        member,
        slot,
        starts.filter((start) => start !== targetPlace(member.name).name),
        new Set([transition, returns.ending.name, returns.callers.name]),
      ),
    );
    // Where the callbacks of a caller start again.
    const ended = members
      .map(([member]) => scopedPlace(member.name, agentEnded).name)
      .filter((place) => this.#net.places.has(place));
    return {
      name: `${name} and its sub-agents`,
      places: [
        ...starts,
        ...(hasReturns ? [returns.ending.name, returns.callers.name, ...ended] : []),
      ],
      transitions: hasReturns ? [transition] : [],
      contract: agentContract({ starts, dones: [inherited.done.name] }),
      children,
    };
  }

  /**
   * @param targets the start places of the agents that it may transfer the turn to
   * @param others names in its scope that belong to its group
   */
  #buildAgent(
    { name, role }: AgentPart,
    inherited: Inherited,
    targets: readonly string[],
    others: ReadonlySet<string> = new Set(),
  ): NetComponent {
    const subAgents = role.kind === 'model' ? [] : role.subAgents;
    const slots = subAgents.map((_, index) => role.childSlot(index, inherited));
    const isOwn = (full: string): boolean =>
      (parseRunningPlaceName(full) ?? full).startsWith(scopedName(name, '')) && !others.has(full);
    const ended = scopedPlace(name, agentEnded).name;
    const returns = inherited.done.name.endsWith(scopedName('', agentReturning.name));
    const starts = [
      targetPlace(name).name,
      // After a transfer, the callbacks of the caller run when the other agent is done.
      ...(returns && this.#net.places.has(ended) ? [ended] : []),
    ];
    const ports: AgentPorts = { starts, dones: [inherited.done.name, ...targets] };
    const inner = slots.map(({ done }) => done.name).filter((done) => done !== inherited.done.name);
    return {
      name,
      places: [
        ...new Set([
          ...this.#places.filter(isOwn),
          ...starts,
          ...subAgents.map((sub) => targetPlace(sub.name).name),
          ...inner,
        ]),
      ],
      transitions: this.#net.transitions.map((t) => t.name).filter(isOwn),
      contract: agentContract(ports),
      children: subAgents.map((sub, index) => this.build(sub, slots[index] ?? inherited)),
    };
  }
}

/** The agents of a transfer group, each with its position. Agents of other kinds keep their sub-agents. */
function listMembers(
  agent: AgentPart,
  inherited: Inherited,
): readonly (readonly [AgentPart, Inherited])[] {
  if (agent.role.kind !== 'model') return [[agent, inherited]];
  const below = agent.role.subAgents.flatMap((sub, index) =>
    listMembers(sub, agent.role.childSlot(index, inherited)),
  );
  return [[agent, inherited], ...below];
}

/**
 * The agent of a session of one: what is left of the net without the subnets that start and end turns, control the
 * session, or write its state.
 */
function singleAgent(
  name: string,
  net: CompiledNet,
  shared: readonly string[],
  isJudged: boolean,
): { readonly port: string; readonly child: NetComponent } {
  const start = (net.places.has(agentStarting.name) ? agentStarting : modelRequest).name;
  const isOfSession = ({ takes, alternatives }: CompiledTransition): boolean =>
    takes.some(({ place }) => place === turnPermit.name || place === sessionWrite.name) ||
    [...alternatives.values()].some(({ outputs }) =>
      outputs.some(({ place }) => place.name === turnPermit.name),
    );
  const session = new Set(
    net.clusters
      .filter(({ transitions }) =>
        transitions.some((one) => net.transitions.some((t) => t.name === one && isOfSession(t))),
      )
      .flatMap(({ transitions }) => transitions),
  );
  const own = net.transitions.filter((t) => !session.has(t.name));
  const needed = new Set(
    net.transitions
      .filter((t) => session.has(t.name))
      .flatMap(({ takes, reads, unless }) => [
        ...takes.filter(({ mode }) => mode !== 'all').map(({ place }) => place),
        ...reads.map(({ place }) => place),
        ...unless.map((place) => place.name),
      ]),
  );
  const places = own.flatMap(({ takes, reads, running, spec }) => [
    ...[...takes, ...reads].flatMap(({ place, kind }) => (kind === 'tokens' ? [place] : [])),
    ...(spec.kind === 'effect' ? [running] : []),
  ]);
  const isOwn = (place: string): boolean =>
    !needed.has(place) && !shared.includes(place) && net.places.get(place)?.environment !== true;
  return {
    port: start,
    child: {
      name,
      places: [...new Set([...places.filter(isOwn), start])],
      transitions: own.map((t) => t.name),
      contract: agentContract({ starts: [start], dones: [turnEnding.name], isJudged }),
      children: [],
    },
  };
}

/** Places that the outcome rounds and the core both look at. */
const outcomePorts = [turnEnding, sessionClosing, outcomeInterrupted];
const outcomePlaces = [
  outcomeIn,
  outcomeWaiting,
  outcomeNext,
  outcomeActive,
  outcomeRound,
  outcomeGrading,
  outcomeVerdict,
];

/**
 * The outcome rounds of a session of one agent. They also have the messages from outside, which an outcome waits for:
 * the core does not need to count them.
 */
function outcomeComponent(net: CompiledNet, revision: string): NetComponent {
  const judging = findConsumers(net, outcomeVerdict.name).map(({ name }) => name);
  const cluster = net.clusters.find(({ transitions }) =>
    judging.some((name) => transitions.includes(name)),
  );
  const own = net.transitions.filter(({ name }) => cluster?.transitions.includes(name) === true);
  const effects = own.filter(({ spec }) => spec.kind === 'effect');
  return {
    name: 'outcome rounds',
    places: [
      ...outcomePlaces.map(({ name }) => name),
      ...effects.map(({ running }) => running),
      userIn.name,
      ...outcomePorts.map(({ name }) => name),
    ],
    transitions: own.map(({ name }) => name),
    contract: outcomeContract(revision),
    children: [],
  };
}
