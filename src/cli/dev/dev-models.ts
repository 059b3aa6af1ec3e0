import { MissingKeyError, resolveModel } from '../../models/index.ts';
import type { Model, ModelRef } from '../../models/index.ts';
import { createScriptedAnswers } from './scripted-answers.ts';

/**
 * Resolves the models that agents name. A model without a key gets scripted answers, so that an agent runs without one.
 * `onScripted` is called once for each such model, with the reason.
 */
export function createDevModels({
  env,
  modelOrigins,
  isScripted,
  onScripted,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly modelOrigins: readonly string[] | undefined;
  readonly isScripted: boolean;
  readonly onScripted: (reason: string) => void;
}): (ref: ModelRef) => Promise<Model> {
  const reasons = new Set<string>();
  const answer = (reason: string): Model => {
    if (!reasons.has(reason)) onScripted(reason);
    reasons.add(reason);
    return createScriptedAnswers(reason);
  };
  return async (ref) => {
    if (isScripted) return answer('This is a scripted answer: petrichor dev runs with --scripted.');
    try {
      return await resolveModel(ref, { env, ...(modelOrigins !== undefined && { modelOrigins }) });
    } catch (error) {
      if (!(error instanceof MissingKeyError)) throw error;
      return answer(
        `This is a scripted answer: set ${error.variables.join(' or ')} for the model.`,
      );
    }
  };
}
