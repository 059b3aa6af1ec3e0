import {
  eventOut,
  turnBudget,
  turnCurrent,
  turnPermit,
  modelFailed,
  modelRequest,
} from '../../agents/index.ts';
import type { ModelCall, ModelFailure } from '../../agents/internal.ts';
import { noUsage } from '../../core/index.ts';
import { all, allOf, many, net, pure, upTo } from '../../net/index.ts';
import type { Effect, EffectContext, EffectFailure, Net } from '../../net/index.ts';
import {
  modelRescheduled,
  modelTried,
  resumeIn,
  sessionFailed,
  sessionPaused,
} from './session-places.ts';

/** Error code of a call that is given up because the process died during it too often. */
/**
 * The process died three times while it processed this message. The message is given up, and the next one runs.
 * @remedy Find out in the log of the process why it died, then send the message again.
 */
const POISONED = 'message_poisoned';

export interface ModelRetryOptions {
  readonly reaskBudget: number;
  /** Total number of attempts of one model call. */
  readonly attempts: number;
}

/**
 * Retries a model call by transitions. Between two attempts the call is a token, so it is visible and a pause holds it.
 * When all attempts have failed, the call is kept, and a resume makes it again.
 */
export function modelRetry({ reaskBudget, attempts }: ModelRetryOptions): Net {
  const retry = pure('model.retry', {
    take: { call: modelRescheduled },
    unless: [sessionPaused],
    after: ({ retryInMs }) => retryInMs,
    give: allOf({ request: modelRequest, events: upTo(1, eventOut) }),
    run: ({ call: { request, attempt, error } }) => ({
      request,
      events: [
        {
          type: 'model.attempt',
          invocationId: request.invocationId,
          attempt: attempt + 1,
          reason: 'retry',
          error,
        },
      ],
    }),
  });

  const exhaust = pure('model.exhaust', {
    take: { call: modelRescheduled, tried: many(attempts, modelTried) },
    // Wins over the retry that would exceed the limit.
    priority: 1,
    give: allOf({ failed: modelFailed, lost: sessionFailed }),
    run: ({ call: { request, error } }) => ({
      failed: { invocationId: request.invocationId, retryable: true, ...error },
      lost: { request },
    }),
  });

  const again = pure('session.retry', {
    take: { resume: resumeIn, lost: sessionFailed, permit: turnPermit },
    reset: [turnBudget],
    give: allOf({
      turn: turnCurrent,
      budget: upTo(Math.max(1, reaskBudget), turnBudget),
      request: modelRequest,
      events: upTo(2, eventOut),
    }),
    run: ({ lost: { request } }) => ({
      turn: { invocationId: request.invocationId, round: request.round, usage: noUsage },
      budget: Array.from({ length: reaskBudget }, () => null),
      request,
      events: [
        { type: 'session.resumed' },
        { type: 'turn.started', invocationId: request.invocationId },
      ],
    }),
  });

  return net('model-retry', {
    in: {
      modelRescheduled,
      modelTried,
      sessionPaused,
      resumeIn,
      sessionFailed,
      turnPermit,
      turnBudget,
    },
    out: { modelRequest, modelFailed, sessionFailed, turnCurrent, turnBudget, eventOut },
    transitions: [retry, exhaust, again],
  });
}

/** Changes the agent's model call so that its retryable failures become tokens of `model.rescheduled`. */
export function withRescheduling(ask: Effect): Effect {
  const { retry, failed, give, run, ...rest } = ask;
  if (retry === undefined || failed === undefined || give.give !== 'oneOf') return ask;
  const alternatives = {
    ...give.alternatives,
    again: allOf({
      waiting: modelRescheduled,
      tried: modelTried,
      events: upTo(1, eventOut),
    }),
  };
  return {
    ...rest,
    read: { ...ask.read, tried: all(modelTried, { min: 0 }) },
    give: { give: 'oneOf', alternatives },
    failed: (failure: EffectFailure, tokens: AskTokens) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the model step declares of its effect
      const outcome = failed(failure, tokens) as { readonly failed?: ModelFailure };
      const modelFailure = outcome.failed;
      if (modelFailure === undefined) return outcome;
      if (failure.kind === 'unknown')
        return {
          failed: { ...modelFailure, code: POISONED, message: poisonedMessage(failure.message) },
        };
      if (!modelFailure.retryable) return outcome;
      const attempt = tokens.tried.length + 1;
      const { backoff, attempts } = retry;
      const retryInMs =
        (typeof backoff === 'function' ? backoff({ ...failure, attempt }) : undefined) ?? 0;
      const { request } = tokens;
      const { invocationId, code, message } = modelFailure;
      const error = { code, message };
      return {
        again: {
          waiting: { request, attempt, retryInMs, error },
          tried: null,
          events:
            attempt < attempts
              ? [{ type: 'turn.rescheduled', invocationId, attempt, retryInMs, error }]
              : [],
        },
      };
    },
    run: async (tokens: AskTokens, context: EffectContext) =>
      run(tokens, { ...context, attempt: tokens.tried.length + context.attempt }),
  };
}

interface AskTokens {
  readonly request: ModelCall;
  readonly tried: readonly null[];
}

function poisonedMessage(why: string): string {
  return `This message could not be answered: ${why}. It is not retried; the next message is processed.`;
}
