import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import { ModelError } from '../../models/internal.ts';
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

/** A failed model, by its index in the list. Its token stays in `model.down` for the cool-down time. */
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
 * Calls the first available model. A model that fails is unavailable for the cool-down time, the next one gets the same
 * request, and the log has a `model.attempt` event with the reason. It has the ports of `modelStep`, and replaces it in
 * an agent with `fallbackModels`.
 * @throws InvalidInputError when there is no model
 */
export function fallbackModelStep(options: FallbackModelStepOptions): Net {
  const { models, coolDownMs = DEFAULT_COOL_DOWN_MS } = options;
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
  // If all are unavailable, use the first.
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
    ...omitUndefined({ retry: first.ask.retry }),
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
    preview: async (tokens, context) =>
      (steps[chooseModel(tokens.down)]?.ask ?? first.ask).preview?.(tokens, context),
    run: async (tokens, context) => {
      const chosen = chooseModel(tokens.down);
      try {
        return await askModel(steps[chosen]?.ask ?? first.ask, tokens, context);
      } catch (error) {
        // A wait longer than the cool-down is not worth it: another model is available now.
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

// `modelStep` declares the outcomes of its effect, but the type `Effect` does not carry them: the two functions below
// cast them back.
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
