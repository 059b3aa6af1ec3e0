import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { agent } from '../../agents/index.ts';
import type { Agent, AgentDefinition, OwnerInput } from '../../agents/index.ts';
import { DEFAULT_REASK_BUDGET } from '../../agents/internal.ts';
import { tokensIn, valuesIn } from '../../net/index.ts';
import type { Marking } from '../../net/index.ts';
import { indexTools } from '../../tools/internal.ts';
import { replyDiscardable } from '../duplex/reply.ts';
import type { LiveConfig } from '../models/live-config.ts';
import type { LiveModel } from '../models/live-model.ts';
import { linkClosed, linkUp } from '../vocabulary/link-places.ts';
import {
  modelActive,
  playbackEnded,
  playbackMark,
  playQueued,
  voiceLost,
  voiceOpen,
} from '../vocabulary/reply-places.ts';
import { soleSpeaker } from '../vocabulary/speaker.ts';
import { liveNet } from './live-net.ts';
import { liveTextModel } from './live-text-model.ts';
import { createLink, SpeakerPorts } from './speaker-ports.ts';
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
  const ports = new SpeakerPorts([{ agent: name, model, config: withDetection(config, vad) }]);
  const link = createLink(ports);
  const definition: AgentDefinition = {
    ...rest,
    name,
    ...omitUndefined({ instruction }),
    model: textModel ?? liveTextModel(model, config),
    subnets: ({ modelStep }, port) => {
      ports.set(port);
      return { modelStep: whileNotLinked(modelStep) };
    },
  };
  const speakers = [soleSpeaker(name, indexTools(options.tools ?? []))];
  return withConnections(
    agent({
      ...definition,
      extensions: [
        { net: liveNet({ speakers, link: link.net, reaskBudget }), discardable: replyDiscardable },
      ],
    }),
  );
}

/** The agent, with its connections in its status, and what a new owner of its sessions injects. */
export function withConnections(built: Agent): Agent {
  return {
    ...built,
    readStatus: (marking) => readLiveStatus(built, marking),
    listOwnerInputs,
    extend: (more) => withConnections(built.extend(more)),
  };
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
 * reports any more that it was played, or that the user has stopped speaking.
 */
function listOwnerInputs(marking: Marking, epoch: number): readonly OwnerInput[] {
  return [
    ...valuesIn(marking, playQueued).map(({ reply, window }) => ({
      place: playbackMark.name,
      value: { reply, window },
      key: `${reply}/${window}:owner-${epoch}`,
    })),
    ...valuesIn(marking, modelActive).map(({ reply }) => ({
      place: playbackEnded.name,
      value: { reply },
      key: `${reply}:owner-${epoch}`,
    })),
    ...valuesIn(marking, voiceOpen).map(({ utterance }) => ({
      place: voiceLost.name,
      value: { utterance },
      key: `${utterance}:owner-${epoch}`,
    })),
    ...valuesIn(marking, linkUp).map(({ conn }) => ({
      place: linkClosed.name,
      value: { conn },
      key: `${conn}:owner-${epoch}`,
    })),
  ];
}
