import type { GenerationConfig, Model } from '../../models/index.ts';
import { compose, join, net, running } from '../../net/index.ts';
import type { Effect, Net, TokenPlace, Transition } from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import {
  afterAgentEffect,
  beforeAgentEffect,
  hasAfterAgent,
  hasBeforeAgent,
} from '../callbacks/agent-callbacks.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { ContextPolicy } from '../prompt/context-policy.ts';
import { fallbackModelStep } from '../model/fallback-model-step.ts';
import type { Instruction } from '../prompt/instruction.ts';
import { withModelCallbacks } from '../model/model-callbacks.ts';
import { modelStep } from '../model/model-step.ts';
import type { ModelStepOptions } from '../model/model-step.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnBudget, turnEnding } from '../vocabulary/turn.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { modelFailed, modelRequest, modelResponse } from '../vocabulary/model-call.ts';
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
import type { ModelCall } from '../vocabulary/model-call.ts';
import { router } from '../model/route-answer.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { hasBeforeTool, hasAfterTool } from '../tools/tool-callbacks.ts';
import { toolDispatch } from '../tools/tool-dispatch.ts';
import { targetUnknown, transferDeclaration, turnTransfer } from '../transfer/transfer.ts';
import type { TransferTarget } from '../transfer/transfer.ts';
import type { TrimOptions } from '../prompt/trim-options.ts';
import type { TurnResources } from '../turn/turn-resources.ts';

/** The stock subnets that are one agent's own. */
export interface LlmSubnets {
  readonly modelStep: Net;
  readonly router: Net;
  readonly toolDispatch: Net;
}

/** What one agent with a model is told of itself, wherever it stands. */
export interface LlmDefinition {
  /** Letters, digits, `_` and `-`; names the agent in the log. */
  readonly name: string;
  readonly model: Model;
  /** Asked in their order when `model` fails, each after all its attempts; one that failed is passed over for a while. */
  readonly fallbackModels?: readonly Model[];
  /** How long; a minute unless said. */
  readonly modelCoolDownMs?: number;
  /** A template, such as `Call them {user:name}.`, or a function. */
  readonly instruction?: Instruction;
  /** Told before `instruction`. That of a session's first agent is told to all of them. */
  readonly globalInstruction?: Instruction;
  readonly config?: GenerationConfig;
  /** What the model is shown of a long conversation: a budget in tokens, or a function of your own. All of it unless said. */
  readonly context?: ContextPolicy | TrimOptions;
  /** What the agent says last when a turn's `reaskBudget` is spent; a sentence of ours unless said. */
  readonly budgetMessage?: string;
  /** How often one model call is tried in all; 4 unless said. */
  readonly modelAttempts?: number;
  /** Milliseconds one attempt may take; 5 minutes unless said. */
  readonly modelTimeoutMs?: number;
  /**
   * Milliseconds: the longest wait that a provider's `retry-after` gets; it is asked again then, whatever it said.
   * Default: 60,000.
   */
  readonly maxRetryAfterMs?: number;
  /** How many model calls one invocation may make, those of the agents it calls included. No limit by default. */
  readonly maxModelCalls?: number;
  /** How many tools run at once; any number unless said. */
  readonly toolConcurrency?: number;
  /** How many characters the result of a tool may have that does not say it itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
  /** Functions asked before and after what the agent does; each is a transition of its net. */
  readonly callbacks?: Callbacks;
  /** State that keeps the agent's last words, for those who come after it. */
  readonly outputKey?: string;
}

export interface LlmAgentOptions {
  readonly definition: LlmDefinition;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly multiAgent?: AgentIdentity['multiAgent'];
  /** Whom it may hand the turn to. */
  readonly targets?: readonly TransferTarget[];
  /** Where it is to begin, and where it begins when the callbacks before it agree. */
  readonly from: TokenPlace<ModelCall>;
  readonly startPlace: TokenPlace<ModelCall>;
}

/** What an agent with a model is made of, and what of it a turn may hold. */
export interface LlmAgentParts {
  readonly stock: LlmSubnets;
  /** The nets of the agent with these subnets, its callbacks put around them. It is done at `turn.ending`. */
  readonly netsWith: (subnets: LlmSubnets) => readonly Net[];
  readonly resources: TurnResources;
}

const DEFAULT_MODEL_ATTEMPTS = 4;
const DEFAULT_MODEL_TIMEOUT_MS = 300_000;
const DEFAULT_BUDGET_MESSAGE =
  'I stopped here: this turn has used all the steps it may take. Say how to go on.';

/** The subnets of one agent with a model, and its callbacks. */
export function llmAgentParts(options: LlmAgentOptions): LlmAgentParts {
  const { definition, tools, multiAgent, targets = [], from, startPlace } = options;
  const { name, callbacks = {} } = definition;
  const identity: AgentIdentity = {
    agentName: name,
    ...(multiAgent !== undefined && { multiAgent }),
  };
  const transfers = targets.length > 0;
  const stepOptions = {
    ...identity,
    callbacks,
    model: definition.model,
    get tools() {
      const own = [...tools.values()].map((tool) => tool.declaration);
      return transfers ? [...own, transferDeclaration(targets)] : own;
    },
    attempts: definition.modelAttempts ?? DEFAULT_MODEL_ATTEMPTS,
    timeoutMs: definition.modelTimeoutMs ?? DEFAULT_MODEL_TIMEOUT_MS,
    ...(definition.maxRetryAfterMs !== undefined && {
      maxRetryAfterMs: definition.maxRetryAfterMs,
    }),
    ...(definition.instruction !== undefined && { instruction: definition.instruction }),
    ...(definition.globalInstruction !== undefined && {
      globalInstruction: definition.globalInstruction,
    }),
    ...(definition.config !== undefined && { config: definition.config }),
    ...(definition.context !== undefined && { context: definition.context }),
    ...(definition.maxModelCalls !== undefined && { maxModelCalls: definition.maxModelCalls }),
  };
  const step = modelStep(stepOptions);
  const dispatch = toolDispatch({
    ...identity,
    tools,
    callbacks,
    transfers,
    budgetMessage: definition.budgetMessage ?? DEFAULT_BUDGET_MESSAGE,
    ...(definition.toolConcurrency !== undefined && { concurrency: definition.toolConcurrency }),
    ...(definition.maxResultCharacters !== undefined && {
      maxResultCharacters: definition.maxResultCharacters,
    }),
  });
  const stock: LlmSubnets = {
    modelStep: selectModelStep(definition, stepOptions, step.subnet),
    router: router({
      ...identity,
      tools,
      transfers,
      hasBeforeTool: hasBeforeTool(callbacks),
      ...(definition.outputKey !== undefined && { outputKey: definition.outputKey }),
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
  return {
    stock,
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
        ...withModelCallbacks(step.subnet, stepOptions).discardable,
        ...(before.length > 0 ? [agentStarting] : []),
        ...(after.length > 0 ? [agentEnded] : []),
        ...callbackEffects.map((t) => running(t)),
      ],
      budgets: [turnBudget],
    },
  };
}

/** The stock model step, or that of several models. */
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
    ...(modelCoolDownMs !== undefined && { coolDownMs: modelCoolDownMs }),
  });
}

/** The subnet, its agent done elsewhere. */
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
    in: { from, begins: startPlace, agentEnded, state, turnStopping },
    out: { turnEnding, stopAsked: stopRequested, conversation, sessionWrite, eventOut },
    transitions,
  });
}
