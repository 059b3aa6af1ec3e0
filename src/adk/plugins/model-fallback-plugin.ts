import { checkDefinition, omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Model } from '../../models/index.ts';
import type { LlmAgentSettings } from './base-plugin.ts';
import { BasePlugin } from './base-plugin.ts';

/** Options of `ModelFallbackPlugin`. */
export interface ModelFallbackPluginOptions {
  /** Called in this order when an agent's own models have failed. Must not be empty. */
  readonly models: readonly (string | Model)[];
  /** How long a failed model is skipped, in milliseconds. Default: 60,000. */
  readonly coolDownMs?: number;
  /** Default: `model_fallback`. */
  readonly name?: string;
}

/** The options of `ModelFallbackPlugin`. */
export const MODEL_FALLBACK_OPTIONS: OptionTable = optionTable<ModelFallbackPluginOptions>(
  'ModelFallbackPlugin',
  { models: true, coolDownMs: true, name: true },
);

/** Adds fallback models to every agent of the app. */
export class ModelFallbackPlugin extends BasePlugin {
  readonly #options: ModelFallbackPluginOptions;

  /** @throws InvalidInputError if `models` is empty */
  constructor(options: ModelFallbackPluginOptions) {
    if (new.target === ModelFallbackPlugin) checkDefinition(MODEL_FALLBACK_OPTIONS, options);
    super(options.name ?? 'model_fallback');
    if (options.models.length === 0) throw new InvalidInputError('models', 'must not be empty.');
    this.#options = options;
  }

  override configureAgent({ fallbackModels = [] }: LlmAgentSettings): Partial<LlmAgentSettings> {
    const { models, coolDownMs } = this.#options;
    return {
      fallbackModels: [...fallbackModels, ...models],
      ...omitUndefined({ modelCoolDownMs: coolDownMs }),
    };
  }
}
