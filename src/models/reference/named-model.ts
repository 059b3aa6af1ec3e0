import type { Model } from '../model/model.ts';
import { ModelNotResolvedError } from './model-not-resolved-error.ts';
import { parseModelRef, type ModelRef, type ModelSpec } from './model-ref.ts';

/** Returns the model of a reference. */
export type ModelResolver = (ref: ModelSpec) => Promise<Model>;

/**
 * A model that an agent names. The runtime resolves it; an agent and its net contain only the reference. It shows no
 * key of the reference, neither when printed nor as JSON.
 */
export class NamedModel implements Model {
  /** The provider and the name, such as `openai/gpt-5`. */
  readonly name: string;
  readonly #ref: ModelSpec;

  /** @throws InvalidInputError, UnknownModelError */
  constructor(ref: ModelRef) {
    this.#ref = parseModelRef(ref);
    this.name = `${this.#ref.provider}/${this.#ref.model}`;
  }

  async resolve(resolver: ModelResolver): Promise<Model> {
    return resolver(this.#ref);
  }

  /** @throws ModelNotResolvedError always, because only a runtime resolves names */
  async generate(): Promise<never> {
    throw new ModelNotResolvedError(
      'unknown',
      this.name,
      'nothing here resolves names. Run the agent with openRuntime, or pass a model: await resolveModel(…).',
    );
  }
}
