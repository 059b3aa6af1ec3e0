import { InvalidInputError } from '../../core/index.ts';
import type { Model } from '../../models/index.ts';
import type { LlmAgentSettings } from './llm-agent-settings.ts';
import { BasePlugin } from './base-plugin.ts';

/**
 * Which models step in for every agent of the app, and how long a failed one is left alone. An empty list is refused.
 */
export interface ModelFallbackPluginOptions {
  /** Asked in their order when an agent's own models have failed. */
  readonly models: readonly (string | Model)[];
  /** How long a model that failed is passed over; a minute unless given. */
  readonly coolDownMs?: number;
  /** `model_fallback` unless given. */
  readonly name?: string;
}

/** Other models for when an agent's own one fails, for every agent of the app. */
export class ModelFallbackPlugin extends BasePlugin {
  readonly #options: ModelFallbackPluginOptions;

  /** @throws InvalidInputError when there are no models */
  constructor(options: ModelFallbackPluginOptions) {
    super(options.name ?? 'model_fallback');
    if (options.models.length === 0) throw new InvalidInputError('models', 'must not be empty.');
    this.#options = options;
  }

  override configureAgent({ fallbackModels = [] }: LlmAgentSettings): Partial<LlmAgentSettings> {
    const { models, coolDownMs } = this.#options;
    return {
      fallbackModels: [...fallbackModels, ...models],
      ...(coolDownMs !== undefined && { modelCoolDownMs: coolDownMs }),
    };
  }
}
