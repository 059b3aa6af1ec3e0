import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/**
 * A model that an agent names cannot be resolved: its package is not installed, its key is not set, or nothing here
 * resolves names. `cause` is the error of the resolver.
 * @remedy Install the package or set the key that the message names, or pass `models` to `openRuntime`.
 */
export class ModelNotResolvedError extends PetrichorError {
  override readonly code = 'model_not_resolved' as const;
  readonly agent: string;
  /** The provider and the name of the model, such as `openai/gpt-5`. */
  readonly model: string;

  constructor(agent: string, model: string, problem: string, options?: PetrichorErrorOptions) {
    super(`Agent "${agent}" names the model "${model}": ${problem}`, options);
    this.agent = agent;
    this.model = model;
  }
}
