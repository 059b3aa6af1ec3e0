import { omitUndefined } from '../../core/internal.ts';
import type { Agent, AgentDefinition } from '../../agents/index.ts';
import { DEFAULT_REASK_BUDGET } from '../../agents/internal.ts';
import type { LiveConfig, LiveModel } from '../../live/index.ts';
import {
  createLink,
  liveNet,
  replyDiscardable,
  SpeakerPorts,
  whileNotLinked,
  withConnections,
} from '../../live/internal.ts';
import type { LinkNet } from '../../live/internal.ts';

/** The most transfers of one turn. */
const MAX_TRANSFERS = 10;

/** The live model of an agent, with what a live session adds to the agent. */
export interface LiveAgentModel {
  readonly model: LiveModel;
  readonly config?: LiveConfig | undefined;
  readonly instruction?: string | undefined;
  readonly reaskBudget?: number | undefined;
}

/** The agents of an app that have a live model. They are collected while the app is compiled. */
export class LiveAgents {
  readonly #ports = new SpeakerPorts();
  readonly #link: LinkNet = createLink(this.#ports);
  readonly #names = new Set<string>();
  #reaskBudget: number = DEFAULT_REASK_BUDGET;

  /** True if no agent of the session has a live model. */
  get isEmpty(): boolean {
    return this.#ports.ports.length === 0;
  }

  has(agentName: string): boolean {
    return this.#names.has(agentName);
  }

  /** Adds an agent. Returns what its definition needs, so that its live model answers while there is a connection. */
  add(agentName: string, live: LiveAgentModel): Pick<AgentDefinition, 'subnets'> {
    const { model, config, instruction: liveInstruction, reaskBudget } = live;
    this.#names.add(agentName);
    this.#reaskBudget = reaskBudget ?? DEFAULT_REASK_BUDGET;
    this.#ports.add({ agent: agentName, model, ...omitUndefined({ config, liveInstruction }) });
    return {
      subnets: ({ modelStep }, port) => {
        this.#ports.set(port);
        return { modelStep: whileNotLinked(modelStep) };
      },
    };
  }

  /** Adds the nets of live sessions to the root agent of an app. */
  extend(root: Agent): Agent {
    this.#ports.restrict(listAgents(root));
    if (this.#ports.ports.length === 0) return root;
    const { ports } = this.#ports;
    const transfers = ports.some((one) => one.transfers);
    const net = liveNet({
      speakers: ports,
      link: this.#link.net,
      reaskBudget: this.#reaskBudget,
      ...omitUndefined({ maxTransfers: transfers ? MAX_TRANSFERS : undefined }),
    });
    return withConnections(root.extend({ extensions: [{ net, discardable: replyDiscardable }] }));
  }
}

/** The agents of a session, each before its sub-agents. */
function listAgents({ name, role }: Agent): readonly string[] {
  return [name, ...role.subAgents.flatMap(listAgents)];
}
