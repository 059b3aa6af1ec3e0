import * as v from 'valibot';
import type { JsonObject } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { AnyPlace, TokenPlace } from '../../net/index.ts';
import { json } from './place-schemas.ts';
import { sessionPaused } from './session.ts';
import { endingSchema } from './turn.ts';
import type { Ending } from './turn.ts';

/** Asks the turn of one invocation to stop. */
export interface Interrupt {
  readonly invocationId: string;
}

/** Interrupts. One that arrives after its turn has ended stops nothing. */
export const interruptIn: TokenPlace<Interrupt> = place(
  'interrupt.in',
  v.object({ invocationId: v.string() }),
  {
    environment: true,
    version: 1,
  },
);

/** Restores the conversation and the state to their values before an invocation. */
export interface Rewind {
  readonly beforeInvocationId: string;
  readonly conversationLength: number;
  readonly state: JsonObject;
}

/** Rewinds. One is applied between two turns, before the next message. */
export const rewindIn: TokenPlace<Rewind> = place(
  'rewind.in',
  v.object({
    beforeInvocationId: v.string(),
    conversationLength: v.pipe(v.number(), v.integer(), v.minValue(0)),
    state: json<JsonObject>(),
  }),
  { environment: true, version: 1 },
);

/** A request by an effect to stop the turn. It takes effect when the pure transition `turn.halt` consumes it. */
export const stopRequested: TokenPlace<Ending> = place('turn.stop-requested', endingSchema, {
  formerNames: ['turn.stop-asked'],
});

/**
 * Holds a token once the turn must stop: no transition begins and no result is committed any more, and `turn.stop`
 * answers the open calls. `endInvocation` of a tool or callback puts it here, and so does a failure that ends the turn.
 */
export const turnStopping: TokenPlace<Ending> = place('turn.stopping', endingSchema);

/** While one of these places has a token, no effect starts: the turn must stop, or the session is paused. */
export const effectInhibitors: readonly AnyPlace[] = [turnStopping, sessionPaused];
