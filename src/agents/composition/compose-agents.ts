import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { compile, compose, initialToken } from '../../net/index.ts';
import { NamedModel } from '../../models/internal.ts';
import type { AnyPlace, Migrate, Net } from '../../net/index.ts';
import { agentReturns, returnPlaces } from '../transfer/agent-returns.ts';
import type { AgentReturnsOptions } from '../transfer/agent-returns.ts';
import { turnWaits } from './concurrent-waits.ts';
import { multiAgentTurnStart } from './multi-agent-turn-start.ts';
import { readStatus } from '../agent/read-status.ts';
import { collectChildAgents } from '../tools/agent-tool.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import type { AgentSlot } from '../agent/agent-subnet.ts';
import { userIn } from '../vocabulary/messages.ts';
import { sessionPrompt } from '../vocabulary/prompt-format.ts';
import { turnEnding, turnPermit } from '../vocabulary/turn.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { createRecordEvents } from './agent-runs.ts';
import { sessionWriter } from '../state/session-writer.ts';
import { outcomeRevision } from '../outcomes/outcome-places.ts';
import { outcomeRounds } from '../outcomes/outcome-rounds.ts';
import { toGrader } from '../outcomes/outcomes-option.ts';
import type { OutcomesOption } from '../outcomes/outcomes-option.ts';
import { outcomeRevisions } from './outcome-revisions.ts';
import { appendedEvents } from '../session/appended-events.ts';
import { failedTurnContinuation } from '../session/failed-turn-retry.ts';
import { sessionControl } from '../session/session-control.ts';
import { toExtension } from '../turn/extension.ts';
import { transferBudget } from '../transfer/transfer.ts';
import type { TransferTarget } from '../transfer/transfer.ts';
import { listContinuedPlaces } from '../turn/failed-turn.ts';
import { turnControl } from '../turn/turn-control.ts';
import { noCallEffects } from '../turn/turn-resources.ts';
import type { TurnResources } from '../turn/turn-resources.ts';

/** The members of an agent's definition that apply to the whole session. */
export interface ComposedAgent {
  readonly name: string;
  readonly description?: string;
  readonly migrate?: Migrate;
  /** The most transfers of one turn. Default: 10. */
  readonly maxTransfers?: number;
  /** Outcome rounds of the session. Default: none. */
  readonly outcomes?: OutcomesOption;
}

/** An agent of the session, with its position. */
interface PlacedAgent {
  readonly name: string;
  readonly role: AgentRole;
  readonly slot: AgentSlot;
}

type AgentInfo = Pick<Agent, 'name' | 'description' | 'role'>;

const DEFAULT_MAX_TRANSFERS = 10;

/**
 * Composes one net for a session of several agents. Each agent has its own places and transitions; they are joined where
 * one agent is done and the next begins.
 * @throws InvalidInputError when two agents have the same name
 * @throws NetBuildError
 */
export function composeAgents(definition: ComposedAgent, role: AgentRole): Agent {
  const { name, description = '', maxTransfers = DEFAULT_MAX_TRANSFERS } = definition;
  const root: AgentInfo = { name, description, role };
  const { placed, groups } = placeAgents(root);
  assertUniqueNames(placed);
  const subnets = placed.map((one) => ({ ...one, subnet: one.role.buildSubnet(one.slot) }));
  const transfers = placed.some(({ slot }) => slot.targets.length > 0);
  const entry = {
    entryAgents: listEntryAgents(root),
    ...omitUndefined({ maxTransfers: transfers ? maxTransfers : undefined }),
  };
  const handovers = uniquePlaces([
    ...placed.map(({ slot: { from } }) => from),
    ...[...placed.map(({ slot }) => slot), ...groups]
      .map(({ done }) => done)
      .filter((done) => isDonePlace(done)),
    ...groups.flatMap(({ returns }) => [returns.ending, returns.callers]),
  ]);
  const budgets = transfers ? [transferBudget] : [];
  const shared: TurnResources = {
    identity: { agentName: name },
    scoped: (place) => place,
    callEffects: noCallEffects,
    mustAnswer: [],
    discardable: handovers,
    budgets,
    continuation: { kept: [...handovers, ...budgets], restarts: [] },
  };
  const resources = [shared, ...subnets.map(({ subnet: unit }) => unit.resources)];
  const { outcomes } = definition;
  const grader = outcomes === undefined ? undefined : toGrader(name, outcomes, undefined);
  const extensions = [
    ...(grader === undefined
      ? []
      : [
          outcomeRounds({ agentName: name, grader, revision: { place: outcomeRevision } }),
          outcomeRevisions({ ...entry, budgets: resources.flatMap(({ budgets }) => budgets) }),
        ]),
    ...placed.flatMap((one) => one.role.extensions.map(toExtension)),
  ];
  const start = multiAgentTurnStart(entry);
  const composed = compose(name, {
    in: { userIn },
    nets: [
      start,
      ...subnets.map(({ subnet: unit }) => unit.net),
      ...groups.map((group) => agentReturns(group)),
      turnWaits(subnets),
      turnControl({ resources, extensions, continues: true }),
      sessionWriter(),
      sessionControl(),
      appendedEvents(),
      failedTurnContinuation(
        listContinuedPlaces(resources, extensions, [
          start,
          ...subnets.map(({ subnet: { net } }) => net),
          ...extensions.map(({ net }) => net),
        ]),
      ),
      ...extensions.map((extension) => extension.net),
    ],
    initial: [initialToken(turnPermit, null), ...initialPromptFormat(placed)],
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
    recordEvents: createRecordEvents(
      placed.map(({ name: agentName, role: agentRole, slot }) => ({
        name: agentName,
        role: agentRole,
        done: slot.done.name,
        branch: slot.multiAgent.branch,
        parentName: slot.parentName,
      })),
    ),
    role: {
      ...role,
      ...(grader instanceof NamedModel && {
        namedModels: [...new Set([...(role.namedModels ?? []), grader])],
      }),
    },
    extend: ({ extensions: added = [], outcomes: more = definition.outcomes }) =>
      composeAgents(
        { ...definition, ...omitUndefined({ outcomes: more }) },
        { ...role, extensions: [...role.extensions, ...added] },
      ),
  };
}

/** The initial token with the prompt format of a session of these agents; none if no agent has the option `identity`. */
export function initialPromptFormat(
  agents: readonly Pick<AgentInfo, 'name' | 'role'>[],
): Net['initial'] {
  if (agents.every(({ role }) => role.identity === undefined)) return [];
  const identified = agents.filter(({ role }) => role.identity === true).map(({ name }) => name);
  return [initialToken(sessionPrompt, { identified })];
}

/**
 * Lists every agent of the session, each before its sub-agents; and the groups of agents that transfer the turn to each
 * other and have `afterAgent` callbacks.
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
      ...omitUndefined({ globalInstruction, parentName: parent?.name }),
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

/** The agents of a transfer group that may transfer the turn and have `afterAgent` callbacks. */
function listCallers(agent: AgentInfo, parent: AgentInfo | undefined): readonly string[] {
  const { name, role } = agent;
  const isCaller = role.hasAfterAgent === true && listTransferTargets(agent, parent).length > 0;
  const below =
    role.kind === 'model' ? role.subAgents.flatMap((sub) => listCallers(sub, agent)) : [];
  return [...(isCaller ? [name] : []), ...below];
}

/**
 * The agents that an agent may transfer the turn to: its sub-agents; and if its parent has a model and the definition
 * allows it, its parent and the parent's other sub-agents. Sequential, parallel, loop and workflow agents cannot
 * transfer. A custom agent can, but runs its sub-agents itself instead of transferring to them.
 */
function listTransferTargets(
  { name, role }: AgentInfo,
  parent: AgentInfo | undefined,
): readonly TransferTarget[] {
  if (role.kind !== 'model' && role.kind !== 'custom') return [];
  const below = role.kind === 'model' ? role.subAgents : [];
  const modelParent = parent?.role.kind === 'model' ? parent : undefined;
  const above = modelParent !== undefined && role.transfers.toParent ? [modelParent] : [];
  const peers =
    modelParent !== undefined && role.transfers.toPeers
      ? modelParent.role.subAgents.filter((peer) => peer.name !== name)
      : [];
  return [...below, ...above, ...peers].map(({ name: to, description }) => ({
    name: to,
    description,
  }));
}

/** The agents that may take a message: the first one, and those that can transfer the turn back to it. */
function listEntryAgents({ name, role }: AgentInfo): readonly string[] {
  if (role.kind !== 'model') return [name];
  const subs = role.subAgents.filter(
    (sub) => sub.role.kind === 'model' && sub.role.transfers.toParent,
  );
  return [name, ...subs.flatMap(listEntryAgents)];
}

/**
 * Transfers, events and places identify an agent by its name alone, so names must be unique.
 * @throws InvalidInputError
 */
function assertUniqueNames(placed: readonly PlacedAgent[]): void {
  const names = placed.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new InvalidInputError(
    'subAgents',
    `has two agents named "${duplicate}": rename one; names must be unique in a session.`,
  );
}

/** True for a `done/<name>` place, which is shared between agents. */
function isDonePlace({ name }: AnyPlace): boolean {
  return name.startsWith('done/');
}

function uniquePlaces<P extends AnyPlace>(places: readonly P[]): readonly P[] {
  return [...new Map(places.map((place) => [place.name, place])).values()];
}
