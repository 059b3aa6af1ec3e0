import { InvalidInputError, parseContent } from '../../core/index.ts';
import type { Content, JsonObject, LogEntry } from '../../core/index.ts';
import { checkResponse } from '../../models/model/check-response.ts';
import { ModelError } from '../../models/model/model-error.ts';
import { withCallIds } from '../../models/model/with-call-ids.ts';
import type {
  GenerationConfig,
  Model,
  ModelRequest,
  ModelResponse,
  ToolDeclaration,
} from '../../models/index.ts';
import { allOf, effect, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Effect, EffectContext, EffectFailure, Net } from '../../net/index.ts';
import { toContextPolicy } from '../prompt/context-policy.ts';
import type { ContextPolicy } from '../prompt/context-policy.ts';
import { getServices, getSessionKey } from '../vocabulary/agent-host.ts';
import { instructionText } from '../prompt/instruction.ts';
import type { Instruction } from '../prompt/instruction.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { turnCurrent, turnEnding } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { modelFailed, modelRequest, modelResponse } from '../vocabulary/model-call.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelAnswer, ModelCall, ModelFailure } from '../vocabulary/model-call.ts';
import { visibleContents } from '../prompt/visible-contents.ts';
import { countModelCall, isModelCallLimit } from './model-call-limit.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { TrimOptions } from '../prompt/trim-options.ts';
import { interceptCall } from '../vocabulary/intercept-call.ts';

/** Which model is asked, what it is shown beside the conversation, and how often and how long it is tried. */
export interface ModelStepOptions extends Partial<AgentIdentity> {
  readonly model: Model;
  /** Told before `instruction`. */
  readonly globalInstruction?: Instruction;
  readonly instruction?: Instruction;
  /** Asked before every call: toolsets may change. */
  readonly tools: readonly ToolDeclaration[];
  readonly config?: GenerationConfig;
  /** What the model is shown of the conversation: a budget, or a function of your own. All of it unless said. */
  readonly context?: ContextPolicy | TrimOptions;
  /** How often one model call is tried in all. */
  readonly attempts: number;
  /** Milliseconds one attempt may take. */
  readonly timeoutMs: number;
  /** Milliseconds: the longest wait that a provider's `retry-after` gets. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How many model calls one invocation may make, those of the agents it calls included. No limit by default. */
  readonly maxModelCalls?: number;
}

const LONGEST_BACKOFF_MS = 30_000;
const DEFAULT_MAX_RETRY_AFTER_MS = 60_000;

/** Asks the model, as often as its errors allow. */
export function modelStep(options: ModelStepOptions): {
  readonly subnet: Net;
  readonly ask: Effect;
} {
  const { model, multiAgent, maxModelCalls } = options;
  const { maxRetryAfterMs = DEFAULT_MAX_RETRY_AFTER_MS } = options;
  if (!Number.isFinite(maxRetryAfterMs) || maxRetryAfterMs < 0) {
    throw new InvalidInputError(
      'maxRetryAfterMs',
      `must be a number of milliseconds from 0 on; it is ${String(maxRetryAfterMs)}.`,
    );
  }
  if (maxModelCalls !== undefined && !Number.isSafeInteger(maxModelCalls)) {
    throw new InvalidInputError(
      'maxModelCalls',
      `must be a whole number, or 0 for no limit; it is ${String(maxModelCalls)}.`,
    );
  }
  const buildRequest = createModelRequestBuilder(options);
  const ask = effect('model.ask', {
    take: { request: modelRequest },
    read: { conversation, state },
    unless: [turnStopping],
    give: oneOf({ response: modelResponse, failed: modelFailed }),
    timeoutMs: options.timeoutMs,
    onCrash: 'rerun',
    retry: {
      attempts: options.attempts,
      backoff: (failure) => nextBackoff(failure, maxRetryAfterMs),
    },
    failed: (failure, { request }) => ({
      failed: { invocationId: request.invocationId, request, ...toFailureDetails(failure) },
    }),
    run: async ({ request, ...tokens }, context) => {
      const { signal, firingId, attempt, emit } = context;
      const { invocationId } = request;
      const baseRequest = await buildRequest(request, tokens, context);
      const fullRequest = { ...baseRequest, ...request.changes };
      const emitFields = {
        invocationId,
        ...(options.agentName !== undefined && { author: options.agentName }),
        ...(multiAgent?.branch !== undefined && { branch: multiAgent.branch }),
        ...(request.node !== undefined && { nodeInfo: request.node }),
      };
      await countModelCall(context.host, { ...request, ...tokens, maxModelCalls });
      const answer = await interceptCall(
        context.host,
        tokens.state,
        {
          kind: 'model',
          name: model.name,
          invocationId,
          agentName: options.agentName,
          attempt,
          signal,
          ...(fullRequest.config !== undefined && { config: fullRequest.config }),
        },
        async () =>
          model.generate(fullRequest, {
            signal,
            firingId,
            attempt,
            onDelta: ({ kind, text }) => emit({ kind, text, ...emitFields }),
          }),
      );
      return { response: toModelAnswer(options, request, checkResponse(answer, model.name)) };
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
            events: [toErrorEvent(failed)],
          }),
        })
      : // The agents beside it and after it are not to go on as if nothing had happened.
        pure('model.fail', {
          ...failArcs,
          give: allOf({ turn: turnCurrent, stop: turnStopping, events: upTo(1, eventOut) }),
          run: ({ failed, turn }) => ({
            turn,
            stop: toEnding(failed),
            events: [toErrorEvent(failed)],
          }),
        });
  return {
    ask,
    subnet: net('model-step', {
      in: { modelRequest, conversation, state, turnCurrent, turnStopping },
      out: {
        modelResponse,
        modelFailed,
        ...(multiAgent === undefined && { turnEnding }),
        turnCurrent,
        eventOut,
      },
      transitions: [ask, fail],
    }),
  };
}

function toEnding({ code, retryable }: ModelFailure): Ending {
  if (isModelCallLimit(code)) return { stopReason: 'budget_reached' };
  return { stopReason: retryable ? 'retries_exhausted' : 'error' };
}

function toErrorEvent({ invocationId, code, message }: ModelFailure): LogEntry {
  return { type: 'error', invocationId, code, message };
}

/** How a model call becomes a request: from what is known when it is made. */
export function createModelRequestBuilder(
  options: ModelStepOptions,
): (
  call: ModelCall,
  known: { readonly conversation: readonly ConversationItem[]; readonly state: JsonObject },
  context: EffectContext,
) => Promise<ModelRequest> {
  const { model, config, agentName, multiAgent } = options;
  const contextPolicy =
    options.context === undefined ? undefined : toContextPolicy(options.context);
  const rewritten = new WeakMap<Content, readonly Content[]>();
  return async ({ invocationId, round }, { conversation, state }, { host }) => {
    const { tools } = options;
    const instruction = await instructionText(
      [options.globalInstruction, options.instruction],
      { state, invocationId, sessionKey: getSessionKey(host) },
      getServices(host).artifacts,
    );
    const contents =
      agentName === undefined || multiAgent === undefined
        ? conversation.map((item) => item.content)
        : visibleContents({ agentName, multiAgent }, conversation, rewritten);
    const info = { invocationId, round, model: model.name, instruction, tools, state };
    return {
      ...(instruction !== undefined && { instruction }),
      contents: (await contextPolicy?.(contents, info)) ?? contents,
      tools,
      ...(config !== undefined && { config }),
    };
  };
}

/** A model's answer, or one in its place, as the net goes on with it. */
export function toModelAnswer(
  { agentName, multiAgent }: Partial<AgentIdentity>,
  { invocationId, round, escalate, node }: ModelCall,
  { content, finishReason, usage, providerMetadata }: ModelResponse,
): ModelAnswer {
  // Two agents that speak side by side answer in the same round.
  const idPrefix = multiAgent === undefined ? invocationId : `${invocationId}/${agentName ?? ''}`;
  return {
    invocationId,
    round,
    ...(escalate === true && { escalate }),
    ...(node !== undefined && { node }),
    content: parseAnswerContent(withCallIds(content, idPrefix, round)),
    finishReason,
    ...(usage !== undefined && { usage }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  };
}

/** An answer may be empty, which a message of a client may not. */
function parseAnswerContent(content: Content): Content {
  return content.parts.length === 0
    ? { role: 'model', parts: [] }
    : parseContent(content, { unknownParts: 'keep' });
}

/**
 * The wait before the next attempt: what the provider asked for, up to the given maximum, or doubling from one second.
 * Undefined when trying again cannot help.
 */
function nextBackoff(
  { kind, error, attempt }: EffectFailure,
  maxRetryAfterMs: number,
): number | undefined {
  const doubling = Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** (attempt - 1));
  if (kind === 'timeout') return doubling;
  if (!(error instanceof ModelError) || !error.retryable) return undefined;
  const { retryAfterMs } = error;
  return retryAfterMs === undefined ? doubling : Math.min(retryAfterMs, maxRetryAfterMs);
}

function toFailureDetails({ kind, error, message }: EffectFailure): {
  code: string;
  message: string;
  retryable: boolean;
} {
  if (error instanceof ModelError)
    return { code: error.code, message: error.message, retryable: error.retryable };
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string'
      ? error.code
      : `model_${kind}`;
  return { code, message, retryable: kind === 'timeout' };
}
