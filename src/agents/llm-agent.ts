import type { GenerationConfig, Model } from '../models/index.ts';
import { compose, join, net, running } from '../net/index.ts';
import type { Effect, Net, TokenPlace, Transition } from '../net/index.ts';
import type { Tool } from '../tools/index.ts';
import {
  afterAgentEffect,
  beforeAgentEffect,
  hasAfterAgent,
  hasBeforeAgent,
} from './agent-callbacks.ts';
import type { Callbacks } from './callbacks.ts';
import type { ContextPolicy } from './context.ts';
import { fallbackModelStep } from './fallback-model-step.ts';
import type { Instruction } from './instruction.ts';
import { withModelCallbacks } from './model-callbacks.ts';
import { modelStep } from './model-step.ts';
import type { ModelStepOptions } from './model-step.ts';
import {
  agentEnded,
  agentStarting,
  conversation,
  eventOut,
  modelFailed,
  modelRequest,
  modelResponse,
  sessionWrite,
  state,
  stopAsked,
  toolAsked,
  toolBatch,
  toolCall,
  toolParked,
  toolRan,
  toolResult,
  toolWrite,
  turnBudget,
  turnEnding,
  turnStopping,
} from './places.ts';
import type { ModelCall } from './places.ts';
import { router } from './router.ts';
import type { Speaking } from './speaking.ts';
import { isGuarded, isObserved } from './tool-callbacks.ts';
import { toolDispatch } from './tool-dispatch.ts';
import { targetUnknown, transferDeclaration, turnTransfer } from './transfer.ts';
import type { TransferTarget } from './transfer.ts';
import type { TrimOptions } from './trim-options.ts';
import type { TurnPart } from './turn-part.ts';

/** The stock subnets that are one agent's own. */
export interface AgentSubnets {
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
  readonly among?: Speaking['among'];
  /** Whom it may hand the turn to. */
  readonly targets?: readonly TransferTarget[];
  /** Where it is to begin, and where it begins when the callbacks before it agree. */
  readonly from: TokenPlace<ModelCall>;
  readonly begins: TokenPlace<ModelCall>;
}

/** What an agent with a model is made of, and what of it a turn may hold. */
export interface LlmAgent {
  readonly stock: AgentSubnets;
  /** The nets of the agent with these subnets, its callbacks put around them. It is done at `turn.ending`. */
  readonly netsWith: (subnets: AgentSubnets) => readonly Net[];
  readonly part: TurnPart;
}

const DEFAULT_MODEL_ATTEMPTS = 4;
const DEFAULT_MODEL_TIMEOUT_MS = 300_000;
const DEFAULT_BUDGET_MESSAGE =
  'I stopped here: this turn has used all the steps it may take. Say how to go on.';

/** The subnets of one agent with a model, and its callbacks. (Seed name: LlmAgentSubnet.) */
export function llmAgent(options: LlmAgentOptions): LlmAgent {
  const { definition, tools, among, targets = [], from, begins } = options;
  const { name, callbacks = {} } = definition;
  const speaking: Speaking = { agentName: name, ...(among !== undefined && { among }) };
  const transfers = targets.length > 0;
  const asking = {
    ...speaking,
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
  const step = modelStep(asking);
  const dispatch = toolDispatch({
    ...speaking,
    tools,
    callbacks,
    transfers,
    budgetMessage: definition.budgetMessage ?? DEFAULT_BUDGET_MESSAGE,
    ...(definition.toolConcurrency !== undefined && { concurrency: definition.toolConcurrency }),
    ...(definition.maxResultCharacters !== undefined && {
      maxResultCharacters: definition.maxResultCharacters,
    }),
  });
  const stock: AgentSubnets = {
    modelStep: modelStepFor(definition, asking, step.subnet),
    router: router({
      ...speaking,
      tools,
      transfers,
      guarded: isGuarded(callbacks),
      ...(definition.outputKey !== undefined && { outputKey: definition.outputKey }),
    }),
    toolDispatch: dispatch.subnet,
  };
  const before = hasBeforeAgent(callbacks)
    ? [beforeAgentEffect({ ...speaking, callbacks, from, begins, ends: turnEnding })]
    : [];
  const after = hasAfterAgent(callbacks)
    ? [afterAgentEffect({ ...speaking, callbacks, ends: turnEnding })]
    : [];
  const around: readonly Effect[] = [...before, ...after];
  return {
    stock,
    netsWith: (subnets) => [
      withModelCallbacks(subnets.modelStep, asking).subnet,
      ...[subnets.router, subnets.toolDispatch].map((subnet) =>
        after.length > 0 ? endingAt(agentEnded, subnet) : subnet,
      ),
      ...(around.length > 0 ? [callbacksNet(around, { from, begins })] : []),
    ],
    part: {
      speaking,
      own: (place) => place,
      callEffects: dispatch.callEffects,
      owed: [
        modelResponse,
        toolBatch,
        ...(isGuarded(callbacks) ? [toolAsked] : []),
        toolCall,
        toolParked,
        ...(isObserved(callbacks) ? [toolRan] : []),
        toolResult,
        toolWrite,
        ...(transfers ? [turnTransfer, targetUnknown] : []),
      ],
      dropped: [
        modelRequest,
        running(step.ask),
        modelFailed,
        ...withModelCallbacks(step.subnet, asking).dropped,
        ...(before.length > 0 ? [agentStarting] : []),
        ...(after.length > 0 ? [agentEnded] : []),
        ...around.map((t) => running(t)),
      ],
      budgets: [turnBudget],
    },
  };
}

/** The stock model step, or that of several models. */
function modelStepFor(
  { model, fallbackModels = [], modelCoolDownMs }: LlmDefinition,
  asking: ModelStepOptions,
  stock: Net,
): Net {
  if (fallbackModels.length === 0) return stock;
  return fallbackModelStep({
    ...asking,
    models: [model, ...fallbackModels],
    get tools() {
      return asking.tools;
    },
    ...(modelCoolDownMs !== undefined && { coolDownMs: modelCoolDownMs }),
  });
}

/** The subnet, its agent done elsewhere. */
function endingAt(place: typeof agentEnded, subnet: Net): Net {
  const moved = compose(subnet.name, { nets: [subnet], join: [join(place, turnEnding)] });
  const { turnEnding: _, ...out } = subnet.out;
  return { ...moved, in: subnet.in, out: { ...out, agentEnded: place }, clusters: [] };
}

function callbacksNet(
  transitions: readonly Transition[],
  { from, begins }: Pick<LlmAgentOptions, 'from' | 'begins'>,
): Net {
  return net('agent-callbacks', {
    in: { from, begins, agentEnded, state, turnStopping },
    out: { turnEnding, stopAsked, conversation, sessionWrite, eventOut },
    transitions,
  });
}
