import { NamedModel, UnknownModelError } from '../../models/internal.ts';
import type { Model, ModelRef } from '../../models/index.ts';

/** The model of an agent: a reference becomes a model that the runtime resolves. @throws InvalidInputError, UnknownModelError */
export function toModel(agentName: string, model: Model | ModelRef): Model {
  if (typeof model === 'object' && 'generate' in model) return model;
  try {
    return new NamedModel(model);
  } catch (error) {
    if (!(error instanceof UnknownModelError)) throw error;
    throw new UnknownModelError(error.model, `Agent "${agentName}"`);
  }
}
