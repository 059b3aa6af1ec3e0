import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { agent } from '../../agents/index.ts';
import type { Agent, AgentDefinition, OwnerInput } from '../../agents/index.ts';
import { DEFAULT_REASK_BUDGET, instructionText } from '../../agents/internal.ts';
import { getServices, getSessionKey } from '../../agents/internal.ts';
import { compose, initialToken, tokensIn, valuesIn } from '../../net/index.ts';
import type { Marking, Net } from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import { indexTools } from '../../tools/internal.ts';
import { commandNet } from '../command/command-net.ts';
import { bargeInNet } from '../duplex/barge-in.ts';
import { callCancelNet } from '../duplex/call-cancel.ts';
import { recoveryNet } from '../duplex/recovery.ts';
import { PLAY_WINDOWS, replyDiscardable, replyNet } from '../duplex/reply.ts';
import { speechTurnNet } from '../duplex/speech-turn.ts';
import { vadNet } from '../duplex/vad.ts';
import { LINK_BUDGET, linkNet } from '../link/link-net.ts';
import type { LiveConfig } from '../models/live-config.ts';
import type { LiveModel } from '../models/live-model.ts';
import { liveSignal } from '../vocabulary/connection-signal.ts';
import { linkUp } from '../vocabulary/link-places.ts';
import { playbackMark, playQueued, playWindow } from '../vocabulary/reply-places.ts';
import { liveTextModel } from './live-text-model.ts';
import { whileNotLinked } from './while-not-linked.ts';

/** The definition of an agent that one can speak with. */
export interface LiveAgentDefinition extends Pick<
  AgentDefinition,
  'name' | 'description' | 'instruction' | 'tools' | 'reaskBudget' | 'toolConcurrency'
> {
  /** The model of calls. */
  readonly model: LiveModel;
  /** The model of text turns while no call is on. Default: `model`, over a connection for each answer. */
  readonly textModel?: AgentDefinition['model'];
  /** Options of the live connection. */
  readonly config?: LiveConfig;
  /**
   * Who detects speech: the model's server, or the client, with `speechStarted` and `speechStopped` of its call. Default:
   * `server`.
   */
  readonly vad?: 'server' | 'client';
}

/** The options of `liveAgent`. */
export const LIVE_AGENT_OPTIONS: OptionTable = optionTable<LiveAgentDefinition>('liveAgent', {
  name: true,
  description: true,
  model: true,
  textModel: true,
  instruction: true,
  tools: true,
  reaskBudget: true,
  toolConcurrency: true,
  config: true,
  vad: true,
});

/** The delays before attempts to connect. The first after a loss is made at once. */
const BACKOFF_MS = [0, 0, 500, 1_000, 2_000, 4_000] as const;

/**
 * Creates an agent that one can speak with. Its sessions are sessions like any other: during a call of `LiveHub.call`
 * the live model answers speech and messages; without one, `textModel` answers messages. Conversation, tools, approvals,
 * interrupts and limits are the same.
 * @throws InvalidInputError, UnknownFieldError, DuplicateToolError, NetBuildError
 */
export function liveAgent(options: LiveAgentDefinition): Agent {
  checkDefinition(LIVE_AGENT_OPTIONS, options);
  const { name, model, textModel, config, vad = 'server', instruction, ...rest } = options;
  const { reaskBudget = DEFAULT_REASK_BUDGET } = options;
  const tools = indexTools(options.tools ?? []);
  const link = linkNet({
    model,
    backoffMs: (attempt) => BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)] ?? 0,
    buildRequest: async ({ state }, { host }) => {
      const services = getServices(host);
      const prompt = { state, invocationId: '', sessionKey: getSessionKey(host) };
      const text = await instructionText([instruction], prompt, services.artifacts);
      return {
        tools: [...tools.values()]
          .filter(({ denied }) => denied !== true)
          .map(({ declaration }) => declaration),
        config: withDetection(config, vad),
        ...omitUndefined({ instruction: text }),
      };
    },
  });
  const built = agent({
    ...rest,
    name,
    ...omitUndefined({ instruction }),
    model: textModel ?? liveTextModel(model, config),
    subnets: ({ modelStep }) => ({ modelStep: whileNotLinked(modelStep, link.places) }),
    extensions: [
      { net: liveNet({ name, tools, link: link.net, reaskBudget }), discardable: replyDiscardable },
    ],
  });
  return withConnections(built);
}

/** The agent, with its connections in its status, and what a new owner of its sessions injects. */
function withConnections(built: Agent): Agent {
  return {
    ...built,
    readStatus: (marking) => readLiveStatus(built, marking),
    listOwnerInputs,
    extend: (more) => withConnections(built.extend(more)),
  };
}

/** The nets of a live session beside those of every agent. */
export function liveNet({
  name,
  tools,
  link,
  reaskBudget,
}: {
  readonly name: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly link: Net;
  readonly reaskBudget: number;
}): Net {
  const nets = [
    link,
    vadNet(),
    bargeInNet({ agentName: name }),
    replyNet({ agentName: name, linkBudget: LINK_BUDGET }),
    recoveryNet(),
    speechTurnNet({ reaskBudget }),
    callCancelNet({ agentName: name, tools }),
    commandNet().net,
  ];
  return compose('live', {
    in: Object.assign({}, ...nets.map((net) => net.in)),
    out: Object.assign({}, ...nets.map((net) => net.out)),
    nets,
    initial: [initialToken(playWindow, null, PLAY_WINDOWS)],
  });
}

function withDetection(config: LiveConfig | undefined, vad: 'server' | 'client'): LiveConfig {
  if (vad === 'server') return config ?? {};
  return {
    ...config,
    realtimeInputConfig: {
      ...config?.realtimeInputConfig,
      automaticActivityDetection: { disabled: true },
    },
  };
}

function readLiveStatus(built: Agent, marking: Marking): ReturnType<Agent['readStatus']> {
  return { ...built.readStatus(marking), connections: tokensIn(marking, linkUp.name).length };
}

/**
 * The connections of the former owner closed with its process. Its client has the audio that was released, and nobody
 * reports any more that it was played.
 */
function listOwnerInputs(marking: Marking, epoch: number): readonly OwnerInput[] {
  return [
    ...valuesIn(marking, playQueued).map(({ reply, window }) => ({
      place: playbackMark.name,
      value: { reply, window },
      key: `${reply}/${window}:owner-${epoch}`,
    })),
    ...valuesIn(marking, linkUp).map(({ conn }) => ({
      place: liveSignal.name,
      value: { conn, kind: 'closed', reason: 'owner' },
      key: `${conn}:owner-${epoch}`,
    })),
  ];
}
