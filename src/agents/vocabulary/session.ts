import * as v from 'valibot';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { modelCallSchema } from './model-call.ts';
import type { ModelCall } from './model-call.ts';
import { failedTurnSchema } from './turn.ts';
import type { FailedTurn } from './turn.ts';

// The places of a session's status, and the inputs that change it.

/** Pauses the session: no turn and no effect starts until a resume. */
export const pauseIn: TokenPlace<null> = place('pause.in', { environment: true });

/** Resumes a paused session, or repeats the model call that failed. */
export const resumeIn: TokenPlace<null> = place('resume.in', { environment: true });

/** Stops the running turn and archives the session. */
export const archiveIn: TokenPlace<null> = place('archive.in', { environment: true });

/** Completes an idle session. */
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

/** The model call whose attempts have all failed. */
export interface UnansweredCall {
  readonly request: ModelCall;
  /** The work of the other agents, in a session of several. */
  readonly turn?: FailedTurn | undefined;
}

/** Present when the last turn ended because all attempts of a model call failed. A resume makes the call again. */
export const sessionFailed: TokenPlace<UnansweredCall> = place(
  'session.failed',
  v.object({ request: modelCallSchema, turn: v.optional(failedTurnSchema) }),
  { version: 1 },
);
