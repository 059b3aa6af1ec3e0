import type { Agent, AgentStatus, Renewal } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { compile, faultPlace, tokensIn } from '../../net/index.ts';
import type { CompiledNet, Marking, Net } from '../../net/index.ts';
import { isPlanned, readScheduleState } from './read-schedule-state.ts';
import { schedulePaused, stateIn } from './schedule-places.ts';

const PREFIX = 'schedule:';

/** A run of a schedule takes about five steps, of 800 bytes each. */
const RENEW_AFTER_STEPS = 256;

/**
 * The agent of the schedules for sessions of an agent. Its name contains that of the agent, so that only processes that
 * have the agent run its schedules. No agent of a program can have such a name.
 */
export function toScheduleAgentName(agent: string): string {
  return `${PREFIX}${agent}`;
}

/** The agent whose sessions are scheduled. Undefined: the name is not that of a schedule's agent. */
export function parseScheduleAgentName(name: string): string | undefined {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}

/** Makes agents of schedules, which share one net. */
export class ScheduleAgents {
  readonly #net: Net;
  readonly #compiled: CompiledNet;
  readonly #byTarget = new Map<string, Agent>();

  constructor(net: Net) {
    this.#net = net;
    this.#compiled = compile(net);
  }

  /** @param target the agent whose sessions are scheduled */
  get(target: string): Agent {
    const agent = this.#byTarget.get(target) ?? this.#create(target);
    this.#byTarget.set(target, agent);
    return agent;
  }

  #create(agent: string): Agent {
    return {
      name: toScheduleAgentName(agent),
      description: `Schedules of sessions of ${agent}`,
      net: this.#net,
      compiled: this.#compiled,
      tools: new Map(),
      children: new Map(),
      migrate: undefined,
      renewal: { afterSteps: RENEW_AFTER_STEPS, toInput: toStateInput },
      readStatus: readScheduleStatus,
      recordEvents: () => [],
      role: {
        kind: 'custom',
        subAgents: [],
        tools: new Map(),
        transfers: { toParent: false, toPeers: false },
        extensions: [],
        buildSubnet: refuse,
        childSlot: refuse,
      },
      extend: refuse,
    };
  }
}

function toStateInput(marking: Marking): ReturnType<Renewal['toInput']> {
  const state = isPlanned(marking) ? readScheduleState(marking) : undefined;
  if (state === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- read from a journal, which is JSON; TypeScript cannot see it for interfaces
  return { place: stateIn.name, value: state as unknown as Json };
}

function readScheduleStatus(marking: Marking): AgentStatus {
  const isPaused = tokensIn(marking, schedulePaused.name).length > 0;
  const hasFailed = tokensIn(marking, faultPlace.name).length > 0;
  const status = hasFailed ? 'failed' : isPaused ? 'paused' : 'idle';
  return { status, activity: 'idle', pending: [], invocationId: undefined };
}

function refuse(): never {
  throw new InvalidInputError('agent', 'is a schedule, which cannot be part of another agent.');
}
