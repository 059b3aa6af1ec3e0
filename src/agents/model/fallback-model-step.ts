import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import { ModelError } from '../../models/model/model-error.ts';
import type { Model } from '../../models/index.ts';
import { all, allOf, effect, net, oneOf, place, pure, upTo } from '../../net/index.ts';
import type { Effect, EffectContext, EffectFailure, Net, TokenPlace } from '../../net/index.ts';
import { modelStep, type ModelStepOptions } from './model-step.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { modelFailed, modelRequest, modelResponse } from '../vocabulary/model-call.ts';
import type { ModelAnswer, ModelFailure } from '../vocabulary/model-call.ts';

/** A model step with several models: in which order they are asked, and how long one that failed is left alone. */
export interface FallbackModelStepOptions extends Omit<ModelStepOptions, 'model'> {
  /**
   * In the order in which they are wanted. Each is tried `attempts` times before the next is asked; once, when it asks
   * for a wait longer than `coolDownMs`.
   */
  readonly models: readonly Model[];
  /** How long a model that failed is passed over; a minute unless said. */
  readonly coolDownMs?: number;
}

/** A model that failed, by its place in the list. It stands here until it may be asked again. */
interface UnavailableModel {
  readonly index: number;
}

const modelUnavailable: TokenPlace<UnavailableModel> = place(
  'model.down',
  v.object({ index: v.number() }),
  {
    version: 1,
  },
);

const DEFAULT_COOL_DOWN_MS = 60_000;

/**
 * Asks the first model that is not down. One that fails goes down for a while, the next is asked the same, and the log
 * says why. It has the ports of `modelStep`, and takes its place in an agent that has `fallbackModels`.
 * @throws InvalidInputError when there is no model.
 */
export function fallbackModelStep(options: FallbackModelStepOptions): Net {
  const { models, coolDownMs = DEFAULT_COOL_DOWN_MS } = options;
  const steps = models.map((model) =>
    modelStep({
      ...options,
      model,
      // Asked before every call, as toolsets may change.
      get tools() {
        return options.tools;
      },
    }),
  );
  const [first] = steps;
  if (first === undefined) throw new InvalidInputError('models', 'must not be empty.');
  const isAvailable = (index: number, unavailable: readonly UnavailableModel[]): boolean =>
    index < models.length && unavailable.every((one) => one.index !== index);
  // When all are down, the first is as good as any.
  const chooseModel = (unavailable: readonly UnavailableModel[]): number =>
    Math.max(
      0,
      models.findIndex((_, index) => isAvailable(index, unavailable)),
    );
  const findNextModel = (
    chosen: number,
    unavailable: readonly UnavailableModel[],
  ): Model | undefined =>
    models.find((_, index) => index !== chosen && isAvailable(index, unavailable));

  const ask = effect('model.ask', {
    take: { request: modelRequest },
    read: { conversation, state, down: all(modelUnavailable, { min: 0 }) },
    unless: [turnStopping],
    give: oneOf({
      response: modelResponse,
      failed: modelFailed,
      next: allOf({ request: modelRequest, down: modelUnavailable, events: upTo(1, eventOut) }),
    }),
    timeoutMs: options.timeoutMs,
    onCrash: 'rerun',
    ...(first.ask.retry !== undefined && { retry: first.ask.retry }),
    failed: (thrown, tokens) => {
      const { request, down } = tokens;
      const failure = unwrapFailure(thrown);
      const chosen = chooseModel(down);
      const next = findNextModel(chosen, down);
      const { invocationId } = request;
      const failed = toModelFailure(steps[chosen]?.ask ?? first.ask, failure, tokens);
      if (next === undefined || !isModelFault(failure)) return { failed };
      const { code, message } = failed;
      const error = { code, message: `${message} Asking "${next.name}" instead.` };
      const attempt = down.length + 2;
      return {
        next: {
          request,
          down: { index: chosen },
          events: [{ type: 'model.attempt', invocationId, attempt, reason: 'retry', error }],
        },
      };
    },
    run: async (tokens, context) => {
      const chosen = chooseModel(tokens.down);
      try {
        return await askModel(steps[chosen]?.ask ?? first.ask, tokens, context);
      } catch (error) {
        // Nobody waits for this one any longer than it would be passed over.
        const isTooLong = error instanceof ModelError && (error.retryAfterMs ?? 0) > coolDownMs;
        throw isTooLong && findNextModel(chosen, tokens.down) !== undefined
          ? new RetryAfterTooLong(error)
          : error;
      }
    },
  });

  const recover = pure('model.recover', {
    take: { down: modelUnavailable },
    after: coolDownMs,
    give: allOf({}),
    run: () => ({}),
  });

  const fail = first.subnet.transitions.filter(({ name }) => name === 'model.fail');
  return net('fallback-model-step', {
    in: first.subnet.in,
    out: { ...first.subnet.out, modelRequest },
    transitions: [ask, recover, ...fail],
  });
}

/** A model that asks for a long wait, where another one may be asked: it is not tried again. */
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

/** Another model may do better at what a model failed at; not at a fault of our own. */
function isModelFault({ kind, error }: EffectFailure): boolean {
  return kind === 'timeout' || (error instanceof ModelError && error.kind !== 'aborted');
}

// Both are what `modelStep` declares of its effect, whose types end where it was made.
function toModelFailure({ failed }: Effect, failure: EffectFailure, tokens: unknown): ModelFailure {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the stock step's own outcome
  const outcome = failed?.(failure, tokens) as { readonly failed: ModelFailure };
  return outcome.failed;
}

async function askModel(
  ask: Effect,
  tokens: unknown,
  context: EffectContext,
): Promise<{ readonly response: ModelAnswer }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the stock step's own outcome
  return (await ask.run(tokens, context)) as { readonly response: ModelAnswer };
}
