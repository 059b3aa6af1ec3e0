import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { chooseEntryAgent } from '../../agents/internal.ts';
import type { ConversationItem, ModelPort } from '../../agents/index.ts';
import { linkNet } from '../link/link-net.ts';
import type { FindLinkTarget, LinkNet } from '../link/link-net.ts';
import type { LiveConfig } from '../models/live-config.ts';
import type { LiveModel, LiveToolDeclaration } from '../models/live-model.ts';

/** The delays before attempts to connect. The first after a loss is made at once. */
const BACKOFF_MS = [0, 0, 500, 1_000, 2_000, 4_000] as const;

/** The live model of an agent. */
export interface SpeakerModel {
  readonly agent: string;
  readonly model: LiveModel;
  /** Its options. They win over those of a call. */
  readonly config?: LiveConfig | undefined;
  /** Added to its instruction in a live session. Default: nothing. */
  readonly liveInstruction?: string | undefined;
}

/** The agents of a session that speak, with the places where they ask their models. They are known once it is composed. */
export class SpeakerPorts {
  readonly #models = new Map<string, SpeakerModel>();
  readonly #ports = new Map<string, ModelPort>();

  constructor(models: readonly SpeakerModel[] = []) {
    for (const one of models) this.add(one);
  }

  add(model: SpeakerModel): void {
    this.#models.set(model.agent, model);
  }

  /** Sets where an agent asks its model. The last composition of a session has all its agents. */
  set(port: ModelPort): void {
    this.#ports.set(port.identity.agentName, port);
  }

  get ports(): readonly ModelPort[] {
    return [...this.#ports.values()];
  }

  /** Keeps the agents of this list, in this order: those of one session. */
  restrict(agents: readonly string[]): void {
    const kept = agents.flatMap((name) => this.#ports.get(name) ?? []);
    this.#ports.clear();
    for (const port of kept) this.set(port);
  }

  /** Finds what a connection is opened with: for the agent of the attempt, or for the one whose turn it is. */
  readonly findTarget: FindLinkTarget = async ({ attempt, conversation, state }, context) => {
    const name = attempt.agent ?? this.#chooseAgent(conversation);
    const port = this.#ports.get(name);
    const speaker = this.#models.get(name);
    if (port === undefined || speaker === undefined)
      throw new InvalidInputError('agent', `"${name}" has no live model.`);
    const { instruction, contents, tools } = await port.buildRequest(
      { invocationId: '', round: 0 },
      { conversation, state },
      context,
    );
    const text = [instruction, speaker.liveInstruction].filter((one) => one !== undefined);
    return {
      model: speaker.model,
      request: {
        history: contents,
        tools: [...tools.map((one) => withTiming(one, port)), ...listLiveTools(port)],
        config: mergeConfig(attempt.config, speaker.config),
        ...omitUndefined({ instruction: text.length === 0 ? undefined : text.join('\n\n') }),
      },
      ...omitUndefined({ agent: this.#ports.size > 1 ? name : undefined }),
    };
  };

  #chooseAgent(conversation: readonly ConversationItem[]): string {
    return chooseEntryAgent([...this.#ports.keys()], conversation);
  }
}

/** The connection of a session whose agents have these models. */
export function createLink(ports: SpeakerPorts): LinkNet {
  return linkNet({
    findTarget: ports.findTarget,
    backoffMs: (attempt) => BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)] ?? 0,
  });
}

/** The options of a call, with those of the agent, which win. */
function mergeConfig(call: JsonObject | undefined, own: LiveConfig = {}): LiveConfig {
  // The options of a call were checked before they were stored.
  return { ...(call as LiveConfig | undefined), ...own };
}

function withTiming(
  declaration: LiveToolDeclaration,
  { tools }: Pick<ModelPort, 'tools'>,
): LiveToolDeclaration {
  return tools.get(declaration.name)?.nonBlocking === true
    ? { ...declaration, nonBlocking: true }
    : declaration;
}

/** The tools that only live models are offered. */
function listLiveTools({ tools }: Pick<ModelPort, 'tools'>): readonly LiveToolDeclaration[] {
  return [...tools.values()]
    .filter(({ liveOnly }) => liveOnly === true)
    .map(({ declaration }) => declaration);
}
