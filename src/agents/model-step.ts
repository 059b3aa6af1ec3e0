import { parseContent } from '../core/index.ts';
import type { Content } from '../core/index.ts';
import { ModelError } from '../models/model-error.ts';
import { withCallIds } from '../models/with-call-ids.ts';
import type { GenerationConfig, Model, ToolDeclaration } from '../models/index.ts';
import { allOf, effect, net, oneOf, pure, upTo } from '../net/index.ts';
import type { Effect, EffectFailure, Net } from '../net/index.ts';
import { contextPolicyOf } from './context.ts';
import type { ContextPolicy } from './context.ts';
import { servicesOf, sessionKeyOf } from './host.ts';
import { instructionText } from './instruction.ts';
import type { Instruction } from './instruction.ts';
import {
  conversation,
  eventOut,
  modelFailed,
  modelRequest,
  modelResponse,
  state,
  turnCurrent,
  turnEnding,
} from './places.ts';
import type { TrimOptions } from './trim-to-budget.ts';

export interface ModelStepOptions {
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
  readonly timeoutMs: number;
}

const LONGEST_BACKOFF_MS = 30_000;

/** Asks the model, as often as its errors allow. (Seed name: LlmStepSubnet.) */
export function modelStep(options: ModelStepOptions): {
  readonly subnet: Net;
  readonly ask: Effect;
} {
  const { model, config } = options;
  const shown = options.context === undefined ? undefined : contextPolicyOf(options.context);
  const ask = effect('model.ask', {
    take: { request: modelRequest },
    read: { conversation, state },
    give: oneOf({ response: modelResponse, failed: modelFailed }),
    timeoutMs: options.timeoutMs,
    onCrash: 'rerun',
    retry: { attempts: options.attempts, backoff: backoffOf },
    failed: (failure, { request }) => ({
      failed: { invocationId: request.invocationId, ...failureOf(failure) },
    }),
    run: async ({ request, conversation, state }, { signal, firingId, attempt, emit, host }) => {
      const { invocationId, round } = request;
      const { tools } = options;
      const instruction = await instructionText(
        [options.globalInstruction, options.instruction],
        { state, invocationId, sessionKey: sessionKeyOf(host) },
        servicesOf(host).artifacts,
      );
      const contents = conversation.map((item) => item.content);
      const info = { invocationId, round, model: model.name, instruction, tools, state };
      const answer = await model.generate(
        {
          ...(instruction !== undefined && { instruction }),
          contents: (await shown?.(contents, info)) ?? contents,
          tools,
          ...(config !== undefined && { config }),
        },
        {
          signal,
          firingId,
          attempt,
          onDelta: ({ kind, text }) => emit({ kind, text, invocationId }),
        },
      );
      return {
        response: {
          invocationId,
          round,
          content: contentOf(withCallIds(answer.content, invocationId, round)),
          finishReason: answer.finishReason,
          ...(answer.usage !== undefined && { usage: answer.usage }),
          ...(answer.providerMetadata !== undefined && {
            providerMetadata: answer.providerMetadata,
          }),
        },
      };
    },
  });
  const fail = pure('model.fail', {
    take: { failed: modelFailed, turn: turnCurrent },
    give: allOf({ turn: turnCurrent, ending: turnEnding, events: upTo(1, eventOut) }),
    run: ({ failed: { invocationId, code, message, retryable }, turn }) => ({
      turn,
      ending: { stopReason: retryable ? 'retries_exhausted' : 'error' },
      events: [{ type: 'error', invocationId, code, message }],
    }),
  });
  return {
    ask,
    subnet: net('model-step', {
      in: { modelRequest, conversation, state, turnCurrent },
      out: { modelResponse, modelFailed, turnEnding, turnCurrent, eventOut },
      transitions: [ask, fail],
    }),
  };
}

/** An answer may be empty, which a message of a client may not. */
function contentOf(content: Content): Content {
  return content.parts.length === 0
    ? { role: 'model', parts: [] }
    : parseContent(content, { unknownParts: 'keep' });
}

/** What the provider asked for, or doubling from one second; nothing when trying again cannot help. */
function backoffOf({ kind, error, attempt }: EffectFailure): number | undefined {
  const doubling = Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** (attempt - 1));
  if (kind === 'timeout') return doubling;
  if (!(error instanceof ModelError) || !error.retryable) return undefined;
  return error.retryAfterMs ?? doubling;
}

function failureOf({ kind, error, message }: EffectFailure): {
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
