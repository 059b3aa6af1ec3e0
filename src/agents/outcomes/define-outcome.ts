import { describeValue, omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { MAX_ITERATIONS } from './outcome-places.ts';
import type { Outcome } from './outcome-places.ts';

const DEFAULT_ITERATIONS = 3;

/** What a good result is. It has either a description or criteria. It replaces an outcome that is still open. */
export interface OutcomeDefinition {
  /** The result to work for. Work on it starts with this text as the message. */
  readonly description?: string | undefined;
  /** The result that the turns from the next message on are judged by. */
  readonly criteria?: string | undefined;
  /** How the grader judges. Default: by the description or the criteria alone. */
  readonly rubric?: string | undefined;
  /** Maximum number of rounds, 1 to 20. Default: 3. */
  readonly maxIterations?: number | undefined;
  /** Makes the session `completed` when the outcome is satisfied. Default: false. */
  readonly completeWhenSatisfied?: boolean | undefined;
}

/** The outcome of a definition. @throws InvalidInputError */
export function toOutcome(definition: OutcomeDefinition, key: string): Outcome {
  const { description, criteria, rubric, maxIterations = DEFAULT_ITERATIONS } = definition;
  const { completeWhenSatisfied = false } = definition;
  if ((description === undefined) === (criteria === undefined))
    throw new InvalidInputError('outcome', 'must have either criteria or a description.');
  for (const [field, text] of Object.entries({ description, criteria, rubric }))
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw new InvalidInputError(field, `must be text; it is ${describeValue(text)}.`);
  if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > MAX_ITERATIONS)
    throw new InvalidInputError(
      'maxIterations',
      `must be a whole number from 1 to ${MAX_ITERATIONS}; it is ${describeValue(maxIterations)}.`,
    );
  if (typeof completeWhenSatisfied !== 'boolean')
    throw new InvalidInputError(
      'completeWhenSatisfied',
      `must be true or false; it is ${describeValue(completeWhenSatisfied)}.`,
    );
  return {
    outcomeId: `outcome_${key}`,
    description: description ?? criteria ?? '',
    ...omitUndefined({ rubric }),
    maxIterations,
    completeWhenSatisfied,
    startsNow: description !== undefined,
  };
}
