import { omitUndefined, getErrorCode } from '../../core/internal.ts';
import { InvalidInputError, parseContent } from '../../core/index.ts';
import type { Content, JsonObject, LogEntry } from '../../core/index.ts';
import { checkResponse, ModelError, withCallIds } from '../../models/internal.ts';
import type {
  GenerationConfig,
  Model,
  ModelRequest,
  ModelResponse,
  ToolDeclaration,
} from '../../models/index.ts';
import { all, allOf, effect, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Effect, EffectContext, EffectFailure, Net, Transition } from '../../net/index.ts';
import { withClientDeclarations } from '../../tools/internal.ts';
import { toContextPolicy } from '../prompt/context-policy.ts';
import type { ContextPolicy } from '../prompt/context-policy.ts';
import {
  getAgentHost,
  getMetadata,
  getServices,
  getSessionKey,
  isIdentified,
} from '../vocabulary/agent-host.ts';
import { findModel } from '../vocabulary/find-model.ts';
import { instructionText } from '../prompt/instruction.ts';
import type { Instruction } from '../prompt/instruction.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { turnCurrent, turnEnding } from '../vocabulary/turn.ts';
import { effectInhibitors, turnStopping } from '../vocabulary/control.ts';
import {
  modelFailed,
  modelRequest,
  modelRescheduled,
  modelResponse,
  modelTried,
} from '../vocabulary/model-call.ts';
import { sessionPaused } from '../vocabulary/session.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelAnswer, ModelCall, ModelFailure } from '../vocabulary/model-call.ts';
import { withRequestedOutput } from '../vocabulary/requested-output.ts';
import { createLateResultPlacer } from '../prompt/place-late-results.ts';
import { isForeignCall, visibleContents } from '../prompt/visible-contents.ts';
import {
  identifiedTools,
  identityInstruction,
  transferInstruction,
  withModelResponse,
} from '../prompt/prompt-identity.ts';
import type { PromptIdentity } from '../prompt/prompt-identity.ts';
import { submitModelResponse } from './submit-model-response.ts';
import { listUnrecordedParts } from './model-request-preview.ts';
import type { ModelRequestPreview } from './model-request-preview.ts';
import { countModelCall, isModelCallLimit, isQuotaRefusal } from './model-call-limit.ts';
import {
  countAttempt,
  exhaustTransition,
  forgetAttemptsTransition,
  reschedule,
  rescheduleOutputs,
  retryTransition,
} from './model-retry.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { TrimOptions } from '../prompt/trim-options.ts';
import { interceptCall } from '../vocabulary/intercept-call.ts';

/** The model of a step, the parts of its request beside the conversation, and its retry limits. */
export interface ModelStepOptions extends Partial<AgentIdentity> {
  readonly model: Model;
  /** What the prompt states about the agent, in sessions whose prompts do so. Default: nothing. */
  readonly identity?: PromptIdentity;
  /** Precedes everything else in the prompt. */
  readonly leadingInstruction?: Instruction;
  /** Precedes `instruction` in the prompt. */
  readonly globalInstruction?: Instruction;
  readonly instruction?: Instruction;
  /** Read before every call, because toolsets may change. */
  readonly tools: readonly ToolDeclaration[];
  readonly config?: GenerationConfig;
  /** The part of the conversation that the model is shown: a token budget, or a function. Default: all of it. */
  readonly context?: ContextPolicy | TrimOptions;
  /** The total number of attempts for one model call. */
  readonly attempts: number;
  /** The timeout of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest wait for a provider's `retry-after`, in milliseconds. A longer one is cut to this. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
  /** The most model calls of one invocation, including those of called agents. Default: no limit. */
  readonly maxModelCalls?: number;
}

export const DEFAULT_MAX_RETRY_AFTER_MS = 60_000;

/**
 * Builds the subnet that calls the model, with retries for retryable errors and timeouts.
 * @returns the subnet, its effect that calls the model, and its transition that ends the turn after a failure
 * @throws InvalidInputError when `maxRetryAfterMs` or `maxModelCalls` is out of range
 */
export function modelStep(options: ModelStepOptions): {
  readonly subnet: Net;
  readonly ask: Effect<{ readonly request: typeof modelRequest }>;
  readonly fail: Transition;
} {
  const { model, multiAgent, maxModelCalls } = options;
  const { maxRetryAfterMs = DEFAULT_MAX_RETRY_AFTER_MS } = options;
  if (!Number.isFinite(maxRetryAfterMs) || maxRetryAfterMs < 0) {
    throw new InvalidInputError(
      'maxRetryAfterMs',
      `must be a number of milliseconds, at least 0; it is ${String(maxRetryAfterMs)}.`,
    );
  }
  if (maxModelCalls !== undefined && !Number.isSafeInteger(maxModelCalls)) {
    throw new InvalidInputError(
      'maxModelCalls',
      `must be a whole number, or 0 for no limit; it is ${String(maxModelCalls)}.`,
    );
  }
  const policy = { attempts: options.attempts, maxRetryAfterMs };
  const buildRequest = createModelRequestBuilder(options);
  const buildFullRequest = async (
    { request, ...tokens }: ModelCallTokens,
    context: EffectContext,
  ): Promise<ModelRequest> => ({
    ...(await buildRequest(request, tokens, context)),
    ...request.changes,
  });
  const ask = effect('model.call', {
    formerNames: ['model.ask'],
    take: { request: modelRequest },
    read: { conversation, state, tried: all(modelTried, { min: 0 }) },
    unless: effectInhibitors,
    give: oneOf({ response: modelResponse, failed: modelFailed, again: rescheduleOutputs }),
    timeoutMs: options.timeoutMs,
    onCrash: 'rerun',
    failed: (failure, { request, tried }) => {
      const failed = toModelFailure(request, failure);
      if (!failed.retryable) return { failed };
      const { code, message } = failed;
      return { again: reschedule({ request, tried, failure, error: { code, message } }, policy) };
    },
    preview: async (tokens, context): Promise<ModelRequestPreview> => ({
      model: model.name,
      request: await buildFullRequest(tokens, context),
      mayDiffer: listUnrecordedParts(options, tokens.request.changes),
    }),
    run: async ({ request, tried, ...tokens }, context) => {
      const { signal, firingId, emit } = context;
      const attempt = countAttempt(tried, context);
      const { invocationId } = request;
      const fullRequest = await buildFullRequest({ request, ...tokens }, context);
      const emitFields = {
        invocationId,
        ...omitUndefined({
          author: options.agentName,
          branch: multiAgent?.branch === undefined ? undefined : multiAgent.branch,
          nodeInfo: request.node,
        }),
      };
      const sent = { text: 0, thinking: 0 };
      await getAgentHost(context.host)?.checkQuota?.(model.name);
      await countModelCall(context.host, { ...request, ...tokens, maxModelCalls });
      const answer = await interceptCall(
        context.host,
        {
          kind: 'model',
          name: model.name,
          invocationId,
          agentName: options.agentName,
          attempt,
          signal,
          ...omitUndefined({ config: fullRequest.config }),
        },
        async () => {
          const found = await findModel(model, options.agentName, context.host);
          return found.generate(fullRequest, {
            signal,
            firingId,
            attempt,
            onDelta: ({ kind, text }) => {
              emit({ kind, text, offset: sent[kind], ...emitFields });
              sent[kind] += text.length;
            },
          });
        },
      );
      const response = checkResponse(answer, model.name);
      const submitted =
        options.identity === undefined
          ? response
          : submitModelResponse(response, new Set(options.tools.map(({ name }) => name)));
      return { response: toModelAnswer(options, request, submitted) };
    },
  });
  const failArcs = {
    take: { failed: modelFailed, turn: turnCurrent },
    unless: [turnStopping],
  } as const;
  const fail =
    multiAgent === undefined
      ? pure('model.fail', {
          ...failArcs,
          give: allOf({ turn: turnCurrent, ending: turnEnding, events: upTo(1, eventOut) }),
          run: ({ failed, turn }) => ({
            turn,
            ending: toEnding(failed),
            events: [toErrorEvent(options, failed)],
          }),
        })
      : // In a session of several agents a failure ends the turn of all of them. What each of them can still do without
        // waiting comes first, so that a resume finds every agent between two effects.
        pure('model.fail', {
          ...failArcs,
          priority: -2,
          give: allOf({ turn: turnCurrent, stop: turnStopping, events: upTo(1, eventOut) }),
          run: ({ failed, turn }) => ({
            turn,
            stop: {
              ...toEnding(failed),
              ...omitUndefined({
                failedAgent: canContinue(failed) ? options.agentName : undefined,
              }),
            },
            events: [toErrorEvent(options, failed)],
          }),
        });
  return {
    ask,
    fail,
    subnet: net('model-step', {
      in: {
        modelRequest,
        modelRescheduled,
        modelTried,
        conversation,
        state,
        turnCurrent,
        turnStopping,
        sessionPaused,
      },
      out: {
        modelResponse,
        modelFailed,
        ...omitUndefined({ turnEnding: multiAgent === undefined ? turnEnding : undefined }),
        turnCurrent,
        eventOut,
      },
      transitions: [
        ask,
        retryTransition(),
        exhaustTransition(options.attempts),
        forgetAttemptsTransition(ask),
        fail,
      ],
    }),
  };
}

/** The tokens from which the request of a model call is built. */
interface ModelCallTokens {
  readonly request: ModelCall;
  readonly conversation: readonly ConversationItem[];
  readonly state: JsonObject;
}

function toEnding(failure: ModelFailure): Ending {
  const { code, retryable, request } = failure;
  if (isModelCallLimit(code)) return { stopReason: 'budget_reached' };
  if (!canContinue(failure)) return { stopReason: 'error' };
  return {
    stopReason: retryable ? 'retries_exhausted' : 'budget_reached',
    ...omitUndefined({ failedRequest: request }),
  };
}

/** True if the same call may succeed later, so that a resume can repeat it. */
function canContinue({ code, retryable }: ModelFailure): boolean {
  return retryable || isQuotaRefusal(code);
}

function toErrorEvent(
  { agentName, multiAgent }: Partial<AgentIdentity>,
  { invocationId, code, message }: ModelFailure,
): LogEntry {
  return {
    type: 'error',
    invocationId,
    ...omitUndefined({ author: agentName, branch: multiAgent?.branch }),
    code,
    message,
  };
}

/** Builds the request of a model call from the current conversation and state. */
export type ModelRequestBuilder = (
  call: ModelCall,
  tokens: { readonly conversation: readonly ConversationItem[]; readonly state: JsonObject },
  context: Pick<EffectContext, 'host'>,
) => Promise<ModelRequest>;

/** Creates the function that builds the request of a model call. */
export function createModelRequestBuilder(options: ModelStepOptions): ModelRequestBuilder {
  const { agentName, multiAgent } = options;
  const contextPolicy =
    options.context === undefined ? undefined : toContextPolicy(options.context);
  const rewritten = {
    adk: new WeakMap<Content, readonly Content[]>(),
    plain: new WeakMap<Content, readonly Content[]>(),
  };
  const placeLateResults = createLateResultPlacer();
  return async ({ invocationId, round }, { conversation, state }, { host }) => {
    const identity =
      agentName !== undefined && isIdentified(host, agentName) ? options.identity : undefined;
    const style = identity === undefined ? 'plain' : 'adk';
    const { requestedOutput, runConfig = {}, clientTools } = getMetadata(host, invocationId);
    const offered = withClientDeclarations(options.tools, clientTools);
    const requested = withRequestedOutput(options.config, agentName, requestedOutput);
    const { tools, config, ...response } =
      identity === undefined
        ? { tools: offered, config: requested, instruction: undefined }
        : withModelResponse(identifiedTools(offered, identity), requested);
    const instruction = await instructionText(
      [
        options.leadingInstruction,
        toLiteral(identity && identityInstruction(identity)),
        options.globalInstruction,
        options.instruction,
        toLiteral(response.instruction),
        toLiteral(identity && transferInstruction(identity)),
      ],
      { state, invocationId, sessionKey: getSessionKey(host) },
      getServices(host).artifacts,
    );
    const contents = placeLateResults(
      agentName === undefined || multiAgent === undefined
        ? conversation.map((item) => item.content)
        : visibleContents({ agentName, multiAgent }, conversation, rewritten[style], style),
      // As in ADK, a later result is shown to the agent that made the call.
      (callId) => style === 'adk' && isForeignCall(agentName, conversation, callId),
    );
    const model = options.model.name;
    const info = { invocationId, round, model, instruction, tools, state, runConfig };
    return {
      ...omitUndefined({ instruction }),
      // A live session begins without a message.
      contents:
        contents.length === 0 ? contents : ((await contextPolicy?.(contents, info)) ?? contents),
      tools,
      ...omitUndefined({ config }),
    };
  };
}

/** An instruction whose braces are literal. */
function toLiteral(text: string | undefined): Instruction | undefined {
  return text === undefined ? undefined : () => text;
}

/** Converts a model's response, or a callback's response in its place, into the answer token. */
export function toModelAnswer(
  { agentName, multiAgent }: Partial<AgentIdentity>,
  { invocationId, round, escalate, node }: ModelCall,
  { content, finishReason, usage, providerMetadata }: ModelResponse,
): ModelAnswer {
  // Concurrent agents can answer in the same round, so the agent's name keeps call ids unique.
  const idPrefix = multiAgent === undefined ? invocationId : `${invocationId}/${agentName ?? ''}`;
  return {
    invocationId,
    round,
    ...omitUndefined({ escalate: escalate === true ? escalate : undefined, node }),
    content: parseAnswerContent(withCallIds(content, idPrefix, round)),
    finishReason,
    ...omitUndefined({ usage, providerMetadata }),
  };
}

/** Validates the content of an answer. Unlike a client's message, an answer may be empty. */
function parseAnswerContent(content: Content): Content {
  return content.parts.length === 0
    ? { role: 'model', parts: [] }
    : parseContent(content, { unknownParts: 'keep' });
}

/** The codes of a model call that failed without an error of the model. */
type CallFailureCode =
  /**
   * The step before or after a model call threw an error without a code, for example a context policy.
   * @remedy Correct the function that threw. The message is its message.
   */
  | 'model_error'
  /**
   * The model call took longer than its time limit, in every attempt.
   * @remedy Raise the time limit of the model call, or use a faster model.
   */
  | 'model_timeout'
  /**
   * The model call was canceled, because its turn was interrupted or its runtime closed.
   * @remedy None, if the interrupt was intended.
   */
  | 'model_cancelled'
  /**
   * The process died three times while it processed this message. The message is given up, and the next one runs.
   * @remedy Find out in the log of the process why it died, then send the message again.
   */
  | 'message_poisoned';

/** Converts the failure of an attempt to the failure of the call. */
export function toModelFailure(
  request: ModelCall,
  { kind, error, message }: EffectFailure,
): ModelFailure {
  const call = { invocationId: request.invocationId, request };
  if (kind === 'unknown')
    return {
      ...call,
      code: 'message_poisoned' satisfies CallFailureCode,
      message: `This message could not be answered: ${message}. It is not retried; the next message is processed.`,
      retryable: false,
    };
  if (error instanceof ModelError)
    return { ...call, code: error.code, message: error.message, retryable: error.retryable };
  const code = getErrorCode(error) ?? (`model_${kind}` satisfies CallFailureCode);
  return { ...call, code, message, retryable: kind === 'timeout' };
}
