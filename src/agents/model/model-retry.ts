import { all, allOf, many, pure, running, upTo } from '../../net/index.ts';
import type {
  AllOf,
  Effect,
  EffectFailure,
  TokenPlace,
  Transition,
  UpTo,
} from '../../net/index.ts';
import type { LogEntry, LoggedError } from '../../core/index.ts';
import { ModelError } from '../../models/internal.ts';
import { effectInhibitors } from '../vocabulary/control.ts';
import { eventOut } from '../vocabulary/messages.ts';
import {
  modelFailed,
  modelRequest,
  modelRescheduled,
  modelTried,
} from '../vocabulary/model-call.ts';
import type { ModelCall, ModelFailure, RescheduledCall } from '../vocabulary/model-call.ts';

// A model call is retried by transitions. Between two attempts the call is a token, so it is visible, and a pause holds
// it. Each failed attempt is a token of `model.attempted`, which bounds the attempts.

/** How often and after which wait a model call is retried. */
export interface ModelRetryPolicy {
  /** The total number of attempts for one model call. */
  readonly attempts: number;
  /** The longest wait for a provider's `retry-after`, in milliseconds. A longer one is cut to this. */
  readonly maxRetryAfterMs: number;
}

/** An attempt of a model call that failed, and may be repeated. */
export interface FailedAttempt {
  readonly request: ModelCall;
  /** The earlier failed attempts of this call. */
  readonly tried: readonly null[];
  readonly failure: EffectFailure;
  readonly error: LoggedError;
}

const LONGEST_BACKOFF_MS = 30_000;

/** The outputs of an attempt that failed and may be repeated. */
export const rescheduleOutputs: AllOf<{
  readonly waiting: TokenPlace<RescheduledCall>;
  readonly tried: TokenPlace<null>;
  readonly crashed: UpTo<null>;
  readonly events: UpTo<LogEntry>;
}> = allOf({
  waiting: modelRescheduled,
  tried: modelTried,
  // Attempts of the same firing that ended with the process.
  crashed: upTo(100, modelTried),
  events: upTo(1, eventOut),
});

/** The values of `rescheduleOutputs`. After the last attempt there is no event: the call is not repeated. */
export function reschedule(
  { request, tried, failure, error }: FailedAttempt,
  { attempts, maxRetryAfterMs }: ModelRetryPolicy,
): {
  readonly waiting: RescheduledCall;
  readonly tried: null;
  readonly crashed: readonly null[];
  readonly events: readonly LogEntry[];
} {
  const attempt = countAttempt(tried, failure);
  const retryInMs = toBackoff({ ...failure, attempt }, maxRetryAfterMs);
  const { invocationId } = request;
  return {
    waiting: { request, attempt, retryInMs, error },
    tried: null,
    crashed: Array.from({ length: Math.min(attempts, attempt) - tried.length - 1 }, () => null),
    events:
      attempt < attempts
        ? [{ type: 'turn.rescheduled', invocationId, attempt, retryInMs, error }]
        : [],
  };
}

/** The number of an attempt of a model call, starting at 1. Attempts of one firing differ after a crash. */
export function countAttempt(
  tried: readonly null[],
  { attempt }: { readonly attempt: number },
): number {
  return tried.length + attempt;
}

/** Repeats a call after its wait. */
export function retryTransition(): Transition {
  return pure('model.retry', {
    take: { call: modelRescheduled },
    unless: effectInhibitors,
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
}

/** Forgets the failed attempts of a call that has its answer or has failed. */
export function forgetAttemptsTransition(ask: Effect): Transition {
  return pure('model.reset-attempts', {
    formerNames: ['model.forget-attempts'],
    take: { tried: all(modelTried) },
    unless: [modelRequest, running(ask), modelRescheduled],
    // Before the next call begins.
    priority: 10,
    give: allOf({}),
    run: () => ({}),
  });
}

/** Wins over the retry that would exceed the limit. */
export const EXHAUST_PRIORITY = 1;

/** Fails a call whose attempts are used up. */
export function exhaustTransition(attempts: number): Transition {
  return pure('model.exhaust', {
    take: { call: modelRescheduled, tried: many(attempts, modelTried) },
    priority: EXHAUST_PRIORITY,
    give: allOf({ failed: modelFailed }),
    run: ({ call }) => ({ failed: toExhaustedFailure(call) }),
  });
}

/** The failure of a call whose attempts are used up. */
export function toExhaustedFailure({ request, error }: RescheduledCall): ModelFailure {
  return { invocationId: request.invocationId, request, retryable: true, ...error };
}

/** The wait before the next attempt: the provider's `retry-after`, up to the maximum, or else 1 second, doubled each time. */
function toBackoff({ error, attempt }: EffectFailure, maxRetryAfterMs: number): number {
  const doubling = Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** (attempt - 1));
  if (!(error instanceof ModelError) || error.retryAfterMs === undefined) return doubling;
  return Math.min(error.retryAfterMs, maxRetryAfterMs);
}
