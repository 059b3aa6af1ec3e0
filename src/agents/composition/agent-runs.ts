import { calledAgentFiring, isJsonObject } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { AgentRunChanged, Json } from '../../core/index.ts';
import type { JournalRecord, Marking } from '../../net/index.ts';
import { isInAnyScope } from '../../net/internal.ts';
import type { AgentRole, RecordEvents } from '../agent/agent.ts';
import { isAgentTool } from '../tools/agent-tool.ts';
import { heldValuesNamed, readFiringInputs, recordEvents } from '../turn/record-events.ts';
import { toBranch } from '../vocabulary/agent-identity.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { toolCall, toolParked } from '../vocabulary/tool-call.ts';

/** An agent of a session, as far as its runs are concerned. */
export interface ListedAgent {
  readonly name: string;
  readonly branch?: string | undefined;
  /** The agent whose sub-agent it is. Absent for the first agent of the session. */
  readonly parentName?: string | undefined;
  /** The name of the place for its ending. */
  readonly done: string;
  readonly role: Pick<AgentRole, 'tools' | 'hasAfterAgent' | 'listNodeRuns'>;
}

/** An event before it has its turn. */
type RunEvent = Omit<AgentRunChanged, 'invocationId'>;

/** A record of a firing that gives tokens. */
type OutputRecord = Extract<JournalRecord, { readonly kind: 'fired' | 'ended' }>;

/** The effect that runs a call. */
const RUN_TOOL = 'tool.run';

/**
 * Creates the function that derives events from the records of a session: those of every session, and the starts and ends
 * of sub-agents, of the nodes of workflows, and of agents that are called as tools.
 * @param agents the agents of the session, the first one first
 */
export function createRecordEvents(agents: readonly ListedAgent[]): RecordEvents {
  if (agents.length === 1 && !agents.some(hasRuns)) return recordEvents;
  const runs = new AgentRuns(agents);
  return (record, marking, invocationId) => [
    ...recordEvents(record, marking),
    ...(invocationId === undefined
      ? []
      : runs.listEvents(record, marking).map((event) => ({ ...event, invocationId }))),
  ];
}

/** True if an agent has nodes, or calls other agents. */
function hasRuns({ role }: ListedAgent): boolean {
  return role.listNodeRuns !== undefined || [...role.tools.values()].some(isAgentTool);
}

class AgentRuns {
  readonly #byName: ReadonlyMap<string, ListedAgent>;
  readonly #byTarget: ReadonlyMap<string, ListedAgent>;
  readonly #first: ListedAgent | undefined;

  constructor(agents: readonly ListedAgent[]) {
    [this.#first] = agents;
    this.#byName = new Map(agents.map((agent) => [agent.name, agent]));
    this.#byTarget = new Map(agents.map((agent) => [targetPlace(agent.name).name, agent]));
  }

  listEvents(record: JournalRecord, marking: Marking): readonly RunEvent[] {
    if (record.kind === 'started') return this.#listCallStart(record, marking);
    if (record.kind !== 'fired' && record.kind !== 'ended') return [];
    return [
      ...this.#listCallEnd(record),
      ...this.#listHandovers(record),
      ...this.#listNodeRuns(record),
    ];
  }

  /** The agent to whose subnet a transition belongs. Undefined for the transitions of the whole session. */
  #findOwner(t: string): ListedAgent | undefined {
    const scope = t.indexOf('/');
    if (scope !== -1) return this.#byName.get(t.slice(0, scope));
    return this.#byName.size === 1 ? this.#first : undefined;
  }

  /** The sub-agents that contain an agent, from the outermost, and the agent. The first agent of the session is in none. */
  #listPath(agent: ListedAgent | undefined): readonly ListedAgent[] {
    return agent?.parentName === undefined
      ? []
      : [...this.#listPath(this.#byName.get(agent.parentName)), agent];
  }

  /** The agents that end and begin when a transition gives the turn, or a part of it, to an agent. */
  #listHandovers({ t, give = [] }: OutputRecord): readonly RunEvent[] {
    const path = this.#listPath(this.#findOwner(t));
    return give.flatMap(([place, value]) => {
      const target = this.#byTarget.get(place);
      if (target === undefined)
        return listEnded(path, place).map((agent) => this.#toAgentEvent('agent.ended', agent));
      const targetPath = this.#listPath(target);
      return [
        ...path
          .filter((agent) => !targetPath.includes(agent))
          .toReversed()
          .map((agent) => this.#toAgentEvent('agent.ended', agent)),
        ...targetPath
          .filter((agent) => !path.includes(agent))
          .map((agent) =>
            this.#toAgentEvent('agent.started', agent, agent === target ? value : undefined),
          ),
      ];
    });
  }

  #toAgentEvent(
    type: 'agent.started' | 'agent.ended',
    { name, branch, parentName }: ListedAgent,
    start?: Json,
  ): RunEvent {
    const nodeInfo = isJsonObject(start) ? start['node'] : undefined;
    return {
      type,
      author: name,
      ...omitUndefined({ branch, parent: this.#toParent(parentName) }),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a member of a token of a typed place
      ...(nodeInfo !== undefined && { nodeInfo: nodeInfo as RunEvent['nodeInfo'] & object }),
    };
  }

  /** The agent that another works for. Undefined for the first agent of the session. */
  #toParent(name: string | undefined): string | undefined {
    return name === this.#first?.name ? undefined : name;
  }

  #listNodeRuns({ t, give = [] }: OutputRecord): readonly RunEvent[] {
    const owner = this.#findOwner(t);
    if (owner?.role.listNodeRuns === undefined) return [];
    const scope = `${owner.name}/`;
    const own = give.map(([place, value]): readonly [string, Json] => [
      place.startsWith(scope) ? place.slice(scope.length) : place,
      value,
    ]);
    return owner.role.listNodeRuns(t.slice(scope.length), new Map(own)).map((run) => ({
      type: run.type,
      author: run.name,
      branch: toBranch(owner.name, run.name, owner.branch),
      nodeInfo: run.nodeInfo,
      ...omitUndefined({ parent: this.#toParent(owner.name) }),
    }));
  }

  #listCallStart(
    { t, seq }: Extract<JournalRecord, { readonly kind: 'started' }>,
    marking: Marking,
  ): readonly RunEvent[] {
    if (!isInAnyScope(t, RUN_TOOL)) return [];
    return heldValuesNamed(readFiringInputs(marking, seq), toolCall)
      .filter(({ answer }) => calledAgentFiring(answer?.resume) === undefined)
      .flatMap((call) => this.#toCallEvent('agent.started', t, call));
  }

  /** The end of a call that ran, with its result. A call that waits for an answer has not ended. */
  #listCallEnd({ t, give = [] }: OutputRecord): readonly RunEvent[] {
    if (!isInAnyScope(t, RUN_TOOL)) return [];
    return give.flatMap(([place, value]) => {
      if (isInAnyScope(place, toolParked.name) || !isJsonObject(value)) return [];
      const { result = value } = value;
      return isJsonObject(result) ? this.#toCallEvent('agent.ended', t, result) : [];
    });
  }

  #toCallEvent(
    type: 'agent.started' | 'agent.ended',
    t: string,
    { callId, name }: { readonly callId?: unknown; readonly name?: unknown },
  ): readonly RunEvent[] {
    const caller = this.#findOwner(t);
    const tool = typeof name === 'string' ? caller?.role.tools.get(name) : undefined;
    if (tool === undefined || !isAgentTool(tool) || typeof callId !== 'string') return [];
    const parent = this.#toParent(caller?.name);
    return [{ type, author: tool.agent.name, ...omitUndefined({ parent }), callId }];
  }
}

/** The agents of a path that end when the last of them gives a token to a place, from the innermost. */
function listEnded(path: readonly ListedAgent[], place: string): readonly ListedAgent[] {
  const ended: ListedAgent[] = [];
  for (const agent of path.toReversed()) {
    if (agent.done !== place) continue;
    // Its callbacks run after those of its sub-agents.
    if (agent !== path.at(-1) && agent.role.hasAfterAgent === true) break;
    ended.push(agent);
  }
  return ended;
}
