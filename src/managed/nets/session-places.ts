import { object } from '../../agents/internal.ts';
import * as v from 'valibot';
import type { LoggedError } from '../../core/index.ts';
import type { ModelCall } from '../../agents/internal.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';

// The places that a managed session adds to its agent: its status, and the inputs that change it.

export const pauseIn: TokenPlace<null> = place('pause.in', { environment: true });
export const resumeIn: TokenPlace<null> = place('resume.in', { environment: true });
export const archiveIn: TokenPlace<null> = place('archive.in', { environment: true });
export const completeIn: TokenPlace<null> = place('complete.in', { environment: true });

/** Present until the first turn starts. */
export const sessionQueued: TokenPlace<null> = place('session.queued');

/** While present, no turn and no effect starts. */
export const sessionPaused: TokenPlace<null> = place('session.paused');

/** The session is archived as soon as its turn has ended. */
export const sessionClosing: TokenPlace<null> = place('session.closing');

/** Has consumed the permit; no turn starts again. */
export const sessionArchived: TokenPlace<null> = place('session.archived');

/** Has consumed the permit; no turn starts again. */
export const sessionCompleted: TokenPlace<null> = place('session.completed');

/** The model call whose attempts have all failed. A resume makes it again. */
export interface ModelFailedMessage {
  readonly request: ModelCall;
}

export const sessionFailed: TokenPlace<ModelFailedMessage> = place(
  'session.failed',
  v.object({ request: object<ModelCall>() }),
  { version: 1 },
);

/** A model call that waits for its next attempt. */
export interface RescheduledCall {
  readonly request: ModelCall;
  /** The attempt that failed, starting at 1. */
  readonly attempt: number;
  readonly retryInMs: number;
  readonly error: LoggedError;
}

export const modelRescheduled: TokenPlace<RescheduledCall> = place(
  'model.rescheduled',
  v.object({
    request: object<ModelCall>(),
    attempt: v.number(),
    retryInMs: v.number(),
    error: object<LoggedError>(),
  }),
  { version: 1 },
);

/** One token per failed attempt of the current model call. */
export const modelTried: TokenPlace<null> = place('model.tried');

/** Maximum number of rounds that an outcome may have. */
export const MAX_ITERATIONS = 20;

/** A requested result and its criteria. */
export interface Outcome {
  readonly outcomeId: string;
  readonly description: string;
  readonly rubric?: string | undefined;
  readonly maxIterations: number;
  readonly completeWhenSatisfied: boolean;
  /** Work starts immediately, with the description as the message. */
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

export const outcomeIn: TokenPlace<Outcome> = place('outcome.in', v.object(outcomeFields), {
  environment: true,
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
