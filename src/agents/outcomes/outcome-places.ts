import * as v from 'valibot';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { modelCallSchema } from '../vocabulary/model-call.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { object } from '../vocabulary/place-schemas.ts';

// The places that an outcome adds to its agent.

/** Maximum number of rounds that an outcome may have. */
export const MAX_ITERATIONS = 20;

/** A requested result and its criteria. */
export interface Outcome {
  readonly outcomeId: string;
  readonly description: string;
  readonly rubric?: string | undefined;
  readonly maxIterations: number;
  readonly completeWhenSatisfied: boolean;
  /** Work starts with the description as the message. */
  readonly startsNow: boolean;
}

const outcomeFields = {
  outcomeId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
  description: v.pipe(v.string(), v.nonEmpty('must not be empty')),
  rubric: v.optional(v.string()),
  maxIterations: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_ITERATIONS)),
  completeWhenSatisfied: v.boolean(),
  startsNow: v.boolean(),
};

/** Outcomes, in the order of arrival among messages: those in `user.in` at that time come before. */
export const outcomeIn: TokenPlace<Outcome> = place('outcome.in', v.object(outcomeFields), {
  environment: true,
  barrier: true,
  version: 1,
});

/** An outcome that messages come before. */
export interface WaitingOutcome extends Outcome {
  /** The turn with which it begins: that of its own message. Without one: the last turn that it does not judge. */
  readonly invocationId: string;
}

/** Present until the turn of its invocation begins. */
export const outcomeWaiting: TokenPlace<WaitingOutcome> = place(
  'outcome.waiting',
  v.object({ ...outcomeFields, invocationId: v.string() }),
  { version: 1 },
);

/** An outcome that begins when the running turn has ended. */
export const outcomeNext: TokenPlace<Outcome> = place('outcome.next', v.object(outcomeFields), {
  version: 1,
});

export interface ActiveOutcome extends Outcome {
  /** The current round, starting at 1. */
  readonly iteration: number;
}

/** Present while turns are judged. */
export const outcomeActive: TokenPlace<ActiveOutcome> = place(
  'outcome.active',
  v.object({ ...outcomeFields, iteration: v.number() }),
  { version: 1 },
);

/** One token per remaining round. */
export const outcomeRound: TokenPlace<null> = place('outcome.round');

/** A round to judge. */
export interface Grading {
  readonly invocationId: string;
  readonly outcome: ActiveOutcome;
}

export const outcomeGrading: TokenPlace<Grading> = place(
  'outcome.grading',
  v.object({ invocationId: v.string(), outcome: object<ActiveOutcome>() }),
  { version: 1 },
);

/** From an interrupt of a turn to its end: the turn is not judged. */
export const outcomeInterrupted: TokenPlace<null> = place('outcome.interrupted');

export interface OutcomeVerdict {
  readonly invocationId: string;
  readonly result: 'satisfied' | 'needs_revision' | 'failed';
  readonly explanation: string;
}

export const outcomeVerdict: TokenPlace<OutcomeVerdict> = place(
  'outcome.verdict',
  v.object({
    invocationId: v.string(),
    result: v.picklist(['satisfied', 'needs_revision', 'failed']),
    explanation: v.string(),
  }),
  { version: 1 },
);

/** A round that begins again, in a session of several agents: the agent that takes it is not chosen yet. */
export const outcomeRevision: TokenPlace<ModelCall> = place('outcome.revision', modelCallSchema, {
  version: 1,
});
