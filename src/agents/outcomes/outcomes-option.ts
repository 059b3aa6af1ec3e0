import { InvalidInputError } from '../../core/index.ts';
import type { OptionNames } from '../../core/index.ts';
import type { Model, ModelRef } from '../../models/index.ts';
import { toModel } from '../vocabulary/to-model.ts';

/** The outcome rounds of an agent. */
export interface OutcomesOption {
  /**
   * The model that judges. Default: the agent's own model. An agent without a model, such as a sequence, needs a grader.
   */
  readonly grader?: Model | ModelRef;
}

/** The option names of outcome rounds. */
export const OUTCOMES_NAMES: OptionNames<OutcomesOption> = { grader: true };

/**
 * The model that judges the outcomes of an agent.
 * @throws InvalidInputError if there is neither a grader nor a model of the agent
 * @throws UnknownModelError
 */
export function toGrader(
  agentName: string,
  { grader }: OutcomesOption,
  ownModel: Model | undefined,
): Model {
  if (grader !== undefined) return toModel(agentName, grader);
  if (ownModel !== undefined) return ownModel;
  throw new InvalidInputError(
    'outcomes.grader',
    `is missing: "${agentName}" has no model of its own to judge with. Pass outcomes: { grader: model }.`,
  );
}
