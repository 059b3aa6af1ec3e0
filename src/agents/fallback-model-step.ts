import * as v from 'valibot';
import { InvalidInputError } from '../core/index.ts';
import { ModelError } from '../models/model-error.ts';
import type { Model } from '../models/index.ts';
import { all, allOf, effect, net, oneOf, place, pure, upTo } from '../net/index.ts';
import type { Effect, EffectContext, EffectFailure, Net, TokenPlace } from '../net/index.ts';
import { modelStep, type ModelStepOptions } from './model-step.ts';
import {
  conversation,
  eventOut,
  modelFailed,
  modelRequest,
  modelResponse,
  state,
  turnStopping,
} from './places.ts';
import type { ModelAnswer, ModelFailure } from './places.ts';

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
interface DownModel {
  readonly index: number;
}

const modelDown: TokenPlace<DownModel> = place('model.down', v.object({ index: v.number() }), {
  version: 1,
});

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
  const isUp = (index: number, down: readonly DownModel[]): boolean =>
    index < models.length && down.every((one) => one.index !== index);
  // When all are down, the first is as good as any.
  const chosenOf = (down: readonly DownModel[]): number =>
    Math.max(
      0,
      models.findIndex((_, index) => isUp(index, down)),
    );
  const nextOf = (chosen: number, down: readonly DownModel[]): Model | undefined =>
    models.find((_, index) => index !== chosen && isUp(index, down));

  const ask = effect('model.ask', {
    take: { request: modelRequest },
    read: { conversation, state, down: all(modelDown, { min: 0 }) },
    unless: [turnStopping],
    give: oneOf({
      response: modelResponse,
      failed: modelFailed,
      next: allOf({ request: modelRequest, down: modelDown, events: upTo(1, eventOut) }),
    }),
    timeoutMs: options.timeoutMs,
    onCrash: 'rerun',
    ...(first.ask.retry !== undefined && { retry: first.ask.retry }),
    failed: (thrown, tokens) => {
      const { request, down } = tokens;
      const failure = asThrown(thrown);
      const chosen = chosenOf(down);
      const next = nextOf(chosen, down);
      const { invocationId } = request;
      const failed = failedOf(steps[chosen]?.ask ?? first.ask, failure, tokens);
      if (next === undefined || !isOfTheModel(failure)) return { failed };
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
      const chosen = chosenOf(tokens.down);
      try {
        return await responseOf(steps[chosen]?.ask ?? first.ask, tokens, context);
      } catch (error) {
        // Nobody waits for this one any longer than it would be passed over.
        const isLong = error instanceof ModelError && (error.retryAfterMs ?? 0) > coolDownMs;
        throw isLong && nextOf(chosen, tokens.down) !== undefined ? new LongAway(error) : error;
      }
    },
  });

  const recover = pure('model.recover', {
    take: { down: modelDown },
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
class LongAway extends Error {
  override readonly cause: ModelError;

  constructor(cause: ModelError) {
    super(cause.message);
    this.cause = cause;
  }
}

function asThrown(failure: EffectFailure): EffectFailure {
  return failure.error instanceof LongAway ? { ...failure, error: failure.error.cause } : failure;
}

/** Another model may do better at what a model failed at; not at a fault of our own. */
function isOfTheModel({ kind, error }: EffectFailure): boolean {
  return kind === 'timeout' || (error instanceof ModelError && error.kind !== 'aborted');
}

// Both are what `modelStep` declares of its effect, whose types end where it was made.
function failedOf({ failed }: Effect, failure: EffectFailure, tokens: unknown): ModelFailure {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the stock step's own outcome
  const outcome = failed?.(failure, tokens) as { readonly failed: ModelFailure };
  return outcome.failed;
}

async function responseOf(
  ask: Effect,
  tokens: unknown,
  context: EffectContext,
): Promise<{ readonly response: ModelAnswer }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the stock step's own outcome
  return (await ask.run(tokens, context)) as { readonly response: ModelAnswer };
}
