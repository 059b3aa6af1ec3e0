import { outcomeIn, toOutcome } from '../../agents/internal.ts';
import type { Agent, OutcomeDefinition } from '../../agents/index.ts';
import { checkOptions, newMessageId, optionTable, PetrichorError } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { checkDefinition } from '../../core/internal.ts';
import type { InjectReceipt } from '../../store/index.ts';

/** The options of `session.defineOutcome`. */
export interface DefineOutcomeOptions {
  /** Idempotency key: an outcome with the key of an earlier one is not defined again. Default: random. */
  readonly dedupeKey?: string;
}

/** An outcome that a session has accepted. */
export interface OutcomeReceipt extends InjectReceipt {
  /** The id of the outcome in the log. */
  readonly outcomeId: string;
}

/** The outcome of `session.defineOutcome`. */
export const OUTCOME_DEFINITION: OptionTable = optionTable<OutcomeDefinition>(
  'defineOutcome',
  {
    description: true,
    criteria: true,
    rubric: true,
    maxIterations: true,
    completeWhenSatisfied: true,
  },
  {
    goal: 'description',
    max_iterations: 'maxIterations',
    complete_when_satisfied: 'completeWhenSatisfied',
  },
);

/** The options of `session.defineOutcome`. */
export const DEFINE_OUTCOME_OPTIONS: OptionTable = optionTable<DefineOutcomeOptions>(
  'defineOutcome',
  { dedupeKey: true },
  { messageId: 'dedupeKey' },
);

/**
 * An outcome was defined in a session whose agent has no outcome rounds. Nothing was written.
 * @remedy Create the agent with the option `outcomes`: `agent({ …, outcomes: {} })`.
 */
export class OutcomesNotEnabledError extends PetrichorError {
  override readonly code = 'outcomes_not_enabled' as const;
  readonly agent: string;

  constructor(agent: string) {
    super(
      `Agent "${agent}" has no outcome rounds. Create it with the option outcomes: {}, or outcomes: { grader: model }.`,
    );
    this.agent = agent;
  }
}

/**
 * Creates the input that defines an outcome.
 * @throws InvalidInputError, UnknownFieldError, OutcomesNotEnabledError
 */
export function toOutcomeInput(
  { name, compiled }: Agent,
  definition: OutcomeDefinition,
  options: DefineOutcomeOptions,
): {
  readonly place: typeof outcomeIn;
  readonly value: ReturnType<typeof toOutcome>;
  readonly dedupeKey: string;
} {
  checkDefinition(OUTCOME_DEFINITION, definition);
  checkOptions(DEFINE_OUTCOME_OPTIONS, options);
  const { dedupeKey = newMessageId() } = options;
  const value = toOutcome(definition, dedupeKey);
  if (!compiled.places.has(outcomeIn.name)) throw new OutcomesNotEnabledError(name);
  return { place: outcomeIn, value, dedupeKey };
}
