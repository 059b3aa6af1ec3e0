import {
  DEFAULT_BUDGET_MESSAGE,
  DEFAULT_MODEL_ATTEMPTS,
  DEFAULT_MODEL_TIMEOUT_MS,
} from './agent-defaults.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { GenerationConfig, Model } from '../../models/index.ts';
import { compose, join, net, running } from '../../net/index.ts';
import type {
  AnyPlace,
  Effect,
  Net,
  Place,
  PlaceKind,
  TokenPlace,
  Transition,
} from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import {
  afterAgentEffect,
  beforeAgentEffect,
  hasAfterAgent,
  hasBeforeAgent,
} from '../callbacks/agent-callbacks.ts';
import { callbacksIn } from '../callbacks/callbacks.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { ContextPolicy } from '../prompt/context-policy.ts';
import type { PromptIdentity } from '../prompt/prompt-identity.ts';
import { fallbackModelStep } from '../model/fallback-model-step.ts';
import type { Instruction } from '../prompt/instruction.ts';
import { withModelCallbacks } from '../model/model-callbacks.ts';
import { createModelRequestBuilder, modelStep } from '../model/model-step.ts';
import type { ModelRequestBuilder, ModelStepOptions } from '../model/model-step.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnBudget, turnEnding } from '../vocabulary/turn.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import {
  modelAnswered,
  modelFailed,
  modelReady,
  modelRequest,
  modelRescheduled,
  modelResponse,
  modelTried,
  toFailedCall,
  toFirstCall,
} from '../vocabulary/model-call.ts';
import {
  toolRequested,
  toolBatch,
  toolCall,
  toolParked,
  toolCompleted,
  toolResult,
  toolWrite,
} from '../vocabulary/tool-call.ts';
import { agentEnded, agentStarting } from '../vocabulary/handover.ts';
import { sessionPaused } from '../vocabulary/session.ts';
import type { ModelAnswer, ModelCall } from '../vocabulary/model-call.ts';
import { router } from '../model/route-answer.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { hasBeforeTool, hasAfterTool } from '../tools/tool-callbacks.ts';
import { toolDispatch, withEscalation } from '../tools/tool-dispatch.ts';
import {
  nextModelCall,
  targetUnknown,
  transferDeclaration,
  turnTransfer,
} from '../transfer/transfer.ts';
import type { TransferTarget } from '../transfer/transfer.ts';
import type { TrimOptions } from '../prompt/trim-options.ts';
import { restart } from '../turn/continuation.ts';
import type { TurnResources } from '../turn/turn-resources.ts';

/** The stock subnets that each agent has, as opposed to those of the session. */
export interface LlmSubnets {
  readonly modelStep: Net;
  readonly router: Net;
  readonly toolDispatch: Net;
  /** Only of an agent that may transfer the turn. */
  readonly transferRouter?: Net;
}

/** The part of an agent's definition that does not depend on its position in a session. */
export interface LlmDefinition {
  /** Letters, digits, `_` and `-`. The author of the agent's events. */
  readonly name: string;
  /** Describes the agent to the models of other agents that can call it or transfer to it. Default: empty. */
  readonly description?: string;
  /**
   * Its prompts state its name, its description and the agents it may transfer to, in the words of ADK, and an agent with
   * tools gives an answer with a schema by calling `set_model_response`. A session keeps the choice with which it was
   * created. Default: false; true under `petrichor/adk`.
   */
  readonly identity?: boolean;
  /** As a sub-agent: forbids a transfer to its parent. Default: false. */
  readonly disallowTransferToParent?: boolean;
  /** As a sub-agent: forbids a transfer to the other sub-agents of its parent. Default: false. */
  readonly disallowTransferToPeers?: boolean;
  readonly model: Model;
  /** Used in order when `model` fails after all its attempts. A model that failed is skipped for `modelCoolDownMs`. */
  readonly fallbackModels?: readonly Model[];
  /** How long a failed model is skipped, in milliseconds. Default: 60,000. */
  readonly modelCoolDownMs?: number;
  /** A template, such as `Call them {user:name}.`, or a function. */
  readonly instruction?: Instruction;
  /** Precedes everything else in the prompt: what `identity` states, and the global instruction. Default: none. */
  readonly leadingInstruction?: Instruction;
  /** Precedes `instruction` in the prompt. The one of a session's first agent applies to all its agents. */
  readonly globalInstruction?: Instruction;
  readonly config?: GenerationConfig;
  /** The part of the conversation that the model is shown: a token budget, or a function. Default: all of it. */
  readonly context?: ContextPolicy | TrimOptions;
  /** The final message of a turn whose `reaskBudget` is used up. Default: a sentence that asks the user how to continue. */
  readonly budgetMessage?: string;
  /** The total number of attempts for one model call. Default: 4. */
  readonly modelAttempts?: number;
  /** The timeout of one attempt, in milliseconds. Default: 5 minutes. */
  readonly modelTimeoutMs?: number;
  /**
   * The longest wait for a provider's `retry-after`, in milliseconds. A longer one is cut to this. Default: 60,000.
   */
  readonly maxRetryAfterMs?: number;
  /** The most model calls of one invocation, including those of called agents. Default: no limit. */
  readonly maxModelCalls?: number;
  /** How many tool calls run at once. Default: no limit. */
  readonly toolConcurrency?: number;
  /** The most characters in the result of a tool that sets no limit itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
  /** Functions that run before and after the agent, its model calls and its tool calls. */
  readonly callbacks?: Callbacks;
  /** The state key that stores the text of the agent's final answer, for agents that run after it. */
  readonly outputKey?: string;
}

/** Options of `llmAgentParts`. */
export interface LlmAgentOptions {
  readonly definition: LlmDefinition;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly multiAgent?: AgentIdentity['multiAgent'];
  /** The agents that it may transfer the turn to. */
  readonly targets?: readonly TransferTarget[];
  /** The agent whose sub-agent it is. */
  readonly parentName?: string;
  /** The place with its start token. */
  readonly from: TokenPlace<ModelCall>;
  /** The place for the start token after the `beforeAgent` callbacks. */
  readonly startPlace: TokenPlace<ModelCall>;
}

/** Where an agent asks its model: the places between its callbacks, and what a request is built from. */
export interface ModelPort {
  readonly identity: AgentIdentity;
  /** Model calls to make. They have passed the `beforeModel` callbacks. */
  readonly request: TokenPlace<ModelCall>;
  /** Answers that have not passed the `afterModel` callbacks. */
  readonly response: TokenPlace<ModelAnswer>;
  /** Builds the request of a call from the conversation and the state. */
  readonly buildRequest: ModelRequestBuilder;
  readonly tools: ReadonlyMap<string, Tool>;
  /** True if the agent may transfer the turn. */
  readonly transfers: boolean;
  /** Maps a stock place to the place of this agent, which is scoped in a session of several agents. */
  readonly scoped: <T, K extends PlaceKind>(place: Place<T, K>) => Place<T, K>;
}

/** The parts of an agent with a model. */
export interface LlmAgentParts {
  readonly stock: LlmSubnets;
  readonly port: ModelPort;
  /** The nets of the agent with these subnets and its callbacks around them. Their ending place is `turn.ending`. */
  readonly netsWith: (subnets: LlmSubnets) => readonly Net[];
  readonly resources: TurnResources;
  /** Places whose tokens mean that the agent has work to do, beside running effects. */
  readonly workPlaces: readonly AnyPlace[];
}

/** Builds the subnets of one agent with a model, and its callbacks. */
export function llmAgentParts(options: LlmAgentOptions): LlmAgentParts {
  const { definition, tools, multiAgent, targets = [], from, startPlace } = options;
  const { name, callbacks = {} } = definition;
  const identity: AgentIdentity = {
    agentName: name,
    ...omitUndefined({ multiAgent }),
  };
  const transfers = targets.length > 0;
  const stepOptions = {
    ...identity,
    callbacks,
    model: definition.model,
    get tools() {
      const declarations = [...tools.values()]
        .filter(({ denied, liveOnly }) => denied !== true && liveOnly !== true)
        .map((tool) => tool.declaration);
      return transfers ? [...declarations, transferDeclaration(targets)] : declarations;
    },
    attempts: definition.modelAttempts ?? DEFAULT_MODEL_ATTEMPTS,
    timeoutMs: definition.modelTimeoutMs ?? DEFAULT_MODEL_TIMEOUT_MS,
    ...omitUndefined({
      maxRetryAfterMs: definition.maxRetryAfterMs,
      instruction: definition.instruction,
      leadingInstruction: definition.leadingInstruction,
      globalInstruction: definition.globalInstruction,
      config: definition.config,
      context: definition.context,
      maxModelCalls: definition.maxModelCalls,
      identity: definition.identity === undefined ? undefined : toPromptIdentity(options),
    }),
  };
  const step = modelStep(stepOptions);
  const dispatch = toolDispatch({
    ...identity,
    tools,
    callbacks,
    transfers,
    budgetMessage: definition.budgetMessage ?? DEFAULT_BUDGET_MESSAGE,
    ...omitUndefined({
      concurrency: definition.toolConcurrency,
      maxResultCharacters: definition.maxResultCharacters,
      maxModelCalls: definition.maxModelCalls,
    }),
  });
  const stock: LlmSubnets = {
    modelStep: selectModelStep(definition, stepOptions, step.subnet),
    router: router({
      ...identity,
      tools,
      transfers,
      hasBeforeTool: hasBeforeTool(callbacks),
      ...omitUndefined({ outputKey: definition.outputKey }),
    }),
    toolDispatch: dispatch.subnet,
  };
  const before = hasBeforeAgent(callbacks)
    ? [beforeAgentEffect({ ...identity, callbacks, from, startPlace, endPlace: turnEnding })]
    : [];
  const after = hasAfterAgent(callbacks)
    ? [afterAgentEffect({ ...identity, callbacks, endPlace: turnEnding })]
    : [];
  const callbackEffects: readonly Effect[] = [...before, ...after];
  const wrapped = withModelCallbacks(step.subnet, stepOptions);
  return {
    stock,
    port: {
      identity,
      request: callbacksIn(callbacks.beforeModel).length > 0 ? modelReady : modelRequest,
      response: callbacksIn(callbacks.afterModel).length > 0 ? modelAnswered : modelResponse,
      buildRequest: createModelRequestBuilder(stepOptions),
      tools,
      transfers,
      scoped: (place) => place,
    },
    netsWith: (subnets) => [
      withModelCallbacks(subnets.modelStep, stepOptions).subnet,
      ...[subnets.router, subnets.toolDispatch].map((subnet) =>
        after.length > 0 ? withEndPlace(agentEnded, subnet) : subnet,
      ),
      ...(callbackEffects.length > 0 ? [callbacksNet(callbackEffects, { from, startPlace })] : []),
    ],
    resources: {
      identity,
      scoped: (place) => place,
      callEffects: dispatch.callEffects,
      mustAnswer: [
        modelResponse,
        toolBatch,
        ...(hasBeforeTool(callbacks) ? [toolRequested] : []),
        toolCall,
        toolParked,
        ...(hasAfterTool(callbacks) ? [toolCompleted] : []),
        toolResult,
        toolWrite,
        ...(transfers ? [turnTransfer, targetUnknown] : []),
      ],
      discardable: [
        modelRequest,
        running(step.ask),
        modelFailed,
        modelRescheduled,
        modelTried,
        ...wrapped.discardable,
        ...(before.length > 0 ? [agentStarting] : []),
        ...(after.length > 0 ? [agentEnded] : []),
        ...callbackEffects.map((t) => running(t)),
      ],
      budgets: [turnBudget],
      continuation: {
        kept: [
          modelRequest,
          turnBudget,
          ...(before.length > 0 ? [agentStarting] : []),
          ...(after.length > 0 ? [agentEnded] : []),
          ...wrapped.continuation.kept,
        ],
        restarts: [
          ...before.map((t) => restart(running(t), from, ({ inputs }) => inputs.start)),
          ...after.map((t) => restart(running(t), agentEnded, ({ inputs }) => inputs.ending)),
          restart(running(step.ask), modelRequest, ({ inputs }) => toFirstCall(inputs.request)),
          restart(modelRescheduled, modelRequest, ({ request }) => toFirstCall(request)),
          restart(modelFailed, modelRequest, toFailedCall),
          ...wrapped.continuation.restarts,
          // The answer was not routed, or calls of it were open: the model sees their results.
          restart(modelResponse, modelRequest, nextModelCall),
          restart(toolBatch, modelRequest, (batch, read) =>
            nextModelCall(withEscalation(batch, read(toolResult))),
          ),
          ...(transfers
            ? [turnTransfer, targetUnknown].map((place) =>
                restart(place, modelRequest, ({ batch }) => nextModelCall(batch)),
              )
            : []),
        ],
      },
    },
    workPlaces: [
      modelRequest,
      modelRescheduled,
      ...(callbacksIn(callbacks.beforeModel).length > 0 ? [modelReady] : []),
      ...(hasBeforeTool(callbacks) ? [toolRequested] : []),
      toolCall,
      ...(hasAfterTool(callbacks) ? [toolCompleted] : []),
    ],
  };
}

function toPromptIdentity({
  definition,
  tools,
  targets = [],
  parentName,
}: LlmAgentOptions): PromptIdentity {
  const { name, description = '' } = definition;
  const { disallowTransferToParent = false, disallowTransferToPeers = false } = definition;
  return {
    agentName: name,
    description,
    targets,
    ...omitUndefined({ parentName: disallowTransferToParent ? undefined : parentName }),
    isIsolated: disallowTransferToParent && disallowTransferToPeers && targets.length === 0,
    isLongRunning: (toolName) => tools.get(toolName)?.longRunning === true,
  };
}

/** The stock model step, or a fallback model step if there are fallback models. */
function selectModelStep(
  { model, fallbackModels = [], modelCoolDownMs }: LlmDefinition,
  stepOptions: ModelStepOptions,
  stock: Net,
): Net {
  if (fallbackModels.length === 0) return stock;
  return fallbackModelStep({
    ...stepOptions,
    models: [model, ...fallbackModels],
    get tools() {
      return stepOptions.tools;
    },
    ...omitUndefined({ coolDownMs: modelCoolDownMs }),
  });
}

/** The subnet, with the agent's ending in this place instead of `turn.ending`. */
function withEndPlace(place: typeof agentEnded, subnet: Net): Net {
  const joined = compose(subnet.name, { nets: [subnet], join: [join(place, turnEnding)] });
  const { turnEnding: _, ...out } = subnet.out;
  return { ...joined, in: subnet.in, out: { ...out, agentEnded: place }, clusters: [] };
}

function callbacksNet(
  transitions: readonly Transition[],
  { from, startPlace }: Pick<LlmAgentOptions, 'from' | 'startPlace'>,
): Net {
  return net('agent-callbacks', {
    in: { from, begins: startPlace, agentEnded, state, turnStopping, sessionPaused },
    out: { turnEnding, stopAsked: stopRequested, conversation, sessionWrite, eventOut },
    transitions,
  });
}
