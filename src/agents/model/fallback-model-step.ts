import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import type { LogEntry, LoggedError } from '../../core/index.ts';
import { ModelError } from '../../models/internal.ts';
import type { Model } from '../../models/index.ts';
import { all, allOf, effect, many, net, oneOf, place, pure, upTo } from '../../net/index.ts';
import type { Effect, EffectContext, EffectFailure, Net, TokenPlace } from '../../net/index.ts';
import {
  EXHAUST_PRIORITY,
  forgetAttemptsTransition,
  reschedule,
  rescheduleOutputs,
  retryTransition,
  toExhaustedFailure,
} from './model-retry.ts';
import { DEFAULT_MAX_RETRY_AFTER_MS, modelStep, toModelFailure } from './model-step.ts';
import type { ModelStepOptions } from './model-step.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { effectInhibitors } from '../vocabulary/control.ts';
import {
  modelFailed,
  modelRequest,
  modelRescheduled,
  modelResponse,
  modelTried,
} from '../vocabulary/model-call.ts';
import type { ModelAnswer, ModelCall } from '../vocabulary/model-call.ts';

/** Options of a model step with several models: their order, and how long a failed one is skipped. */
export interface FallbackModelStepOptions extends Omit<ModelStepOptions, 'model'> {
  /**
   * The models in order of preference. Each gets `attempts` attempts before the next is used; only one if it asks for a
   * wait longer than `coolDownMs`.
   */
  readonly models: readonly Model[];
  /** How long a failed model is skipped, in milliseconds. Default: 60,000. */
  readonly coolDownMs?: number;
}

/** A failed model, by its index in the list. Its token stays in `model.unavailable` for the cool-down time. */
interface UnavailableModel {
  readonly index: number;
}

const modelUnavailable: TokenPlace<UnavailableModel> = place(
  'model.unavailable',
  v.object({ index: v.number() }),
  { version: 1, formerNames: ['model.down'] },
);

const DEFAULT_COOL_DOWN_MS = 60_000;

/** What gives a call to the next model. */
const nextOutputs = allOf({
  request: modelRequest,
  down: modelUnavailable,
  events: upTo(1, eventOut),
});

interface NextOutputs {
  readonly request: ModelCall;
  readonly down: UnavailableModel;
  readonly events: readonly LogEntry[];
}

/** A call that a model could not answer, with the error. */
interface FailedCall extends LoggedError {
  readonly request: ModelCall;
}

/**
 * Calls the first available model. A model that fails is unavailable for the cool-down time, the next one gets the same
 * request, and the log has a `model.attempt` event with the reason. It has the ports of `modelStep`, and replaces it in
 * an agent with `fallbackModels`.
 * @throws InvalidInputError when there is no model
 */
export function fallbackModelStep(options: FallbackModelStepOptions): Net {
  const { models, coolDownMs = DEFAULT_COOL_DOWN_MS } = options;
  const { attempts, maxRetryAfterMs = DEFAULT_MAX_RETRY_AFTER_MS } = options;
  const policy = { attempts, maxRetryAfterMs };
  const steps = models.map((model) =>
    modelStep({
      ...options,
      model,
      // Read before every call, because toolsets may change.
      get tools() {
        return options.tools;
      },
    }),
  );
  const [first] = steps;
  if (first === undefined) throw new InvalidInputError('models', 'must not be empty.');
  const isAvailable = (index: number, unavailable: readonly UnavailableModel[]): boolean =>
    index < models.length && unavailable.every((one) => one.index !== index);
  // A call that went to another model stays there. If all are unavailable, use the first.
  const chooseModel = (
    { askedModels }: ModelCall,
    unavailable: readonly UnavailableModel[],
  ): number =>
    askedModels?.at(-1) ??
    Math.max(
      0,
      models.findIndex((_, index) => isAvailable(index, unavailable)),
    );
  // A call asks each model once, so that it ends.
  const findNextModel = (
    request: ModelCall,
    unavailable: readonly UnavailableModel[],
  ): number | undefined => {
    const asked = request.askedModels ?? [chooseModel(request, unavailable)];
    const next = models.findIndex(
      (_, index) => isAvailable(index, unavailable) && !asked.includes(index),
    );
    return next < 0 ? undefined : next;
  };
  const giveToNext = (
    { request, ...failed }: FailedCall,
    unavailable: readonly UnavailableModel[],
  ): NextOutputs | undefined => {
    const chosen = chooseModel(request, unavailable);
    const next = findNextModel(request, unavailable);
    if (next === undefined) return undefined;
    const error = {
      code: failed.code,
      message: `${failed.message} Asking "${models[next]?.name ?? ''}" instead.`,
    };
    const attempt = unavailable.length + 2;
    const { invocationId } = request;
    return {
      request: { ...request, askedModels: [...(request.askedModels ?? [chosen]), next] },
      down: { index: chosen },
      events: [{ type: 'model.attempt', invocationId, attempt, reason: 'retry', error }],
    };
  };

  const ask = effect('model.call', {
    formerNames: ['model.ask'],
    take: { request: modelRequest },
    read: {
      conversation,
      state,
      tried: all(modelTried, { min: 0 }),
      down: all(modelUnavailable, { min: 0 }),
    },
    unless: effectInhibitors,
    give: oneOf({
      response: modelResponse,
      failed: modelFailed,
      again: rescheduleOutputs,
      // Uses up the attempts, so that the next model is asked.
      giveUp: allOf({ waiting: modelRescheduled, tried: upTo(attempts, modelTried) }),
    }),
    timeoutMs: options.timeoutMs,
    onCrash: 'rerun',
    failed: (thrown, { request, tried, down }) => {
      const failure = unwrapFailure(thrown);
      const failed = toModelFailure(request, failure);
      const { code, message, retryable } = failed;
      const error = { code, message };
      if (retryable && failure === thrown)
        return { again: reschedule({ request, tried, failure, error }, policy) };
      if (!isModelFault(failure) || findNextModel(request, down) === undefined) return { failed };
      return {
        giveUp: {
          waiting: { request, attempt: attempts, retryInMs: 0, error },
          tried: Array.from({ length: attempts - tried.length }, () => null),
        },
      };
    },
    preview: async (tokens, context) =>
      (steps[chooseModel(tokens.request, tokens.down)]?.ask ?? first.ask).preview?.(
        tokens,
        context,
      ),
    run: async (tokens, context) => {
      const chosen = chooseModel(tokens.request, tokens.down);
      try {
        return await askModel(steps[chosen]?.ask ?? first.ask, tokens, context);
      } catch (error) {
        // A wait longer than the cool-down is not worth it: another model is available now.
        const isTooLong = error instanceof ModelError && (error.retryAfterMs ?? 0) > coolDownMs;
        throw isTooLong && findNextModel(tokens.request, tokens.down) !== undefined
          ? new RetryAfterTooLong(error)
          : error;
      }
    },
  });

  const exhaust = pure('model.exhaust', {
    take: { call: modelRescheduled, tried: many(attempts, modelTried) },
    read: { down: all(modelUnavailable, { min: 0 }) },
    priority: EXHAUST_PRIORITY,
    give: oneOf({ failed: modelFailed, next: nextOutputs }),
    run: ({ call, down }) => {
      const next = giveToNext({ request: call.request, ...call.error }, down);
      return next === undefined ? { failed: toExhaustedFailure(call) } : { next };
    },
  });

  const recover = pure('model.recover', {
    take: { down: modelUnavailable },
    after: coolDownMs,
    give: allOf({}),
    run: () => ({}),
  });

  return net('fallback-model-step', {
    in: first.subnet.in,
    out: { ...first.subnet.out, modelRequest },
    transitions: [
      ask,
      retryTransition(),
      exhaust,
      forgetAttemptsTransition(ask),
      recover,
      first.fail,
    ],
  });
}

/** The model asks for a wait longer than the cool-down while another one is available, so it is not retried. */
class RetryAfterTooLong extends Error {
  override readonly cause: ModelError;

  constructor(cause: ModelError) {
    super(cause.message);
    this.cause = cause;
  }
}

function unwrapFailure(failure: EffectFailure): EffectFailure {
  return failure.error instanceof RetryAfterTooLong
    ? { ...failure, error: failure.error.cause }
    : failure;
}

/** True for a failure of the model, where another model may succeed; false for an abort or an error in the agent's code. */
function isModelFault({ kind, error }: EffectFailure): boolean {
  return kind === 'timeout' || (error instanceof ModelError && error.kind !== 'aborted');
}

// `modelStep` declares the outcome of its effect, but the type `Effect` does not carry it.
async function askModel(
  ask: Effect,
  tokens: unknown,
  context: EffectContext,
): Promise<{ readonly response: ModelAnswer }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the stock step's own outcome
  return (await ask.run(tokens, context)) as { readonly response: ModelAnswer };
}
