import * as v from 'valibot';
import { outlet } from '../../net/index.ts';
import type { Outlet } from '../../net/index.ts';
import { count, id, signalSchema } from './signal-schema.ts';

const kinds = ['play', 'flush', 'resume'] as const;

/**
 * A committed decision about audio.
 * - `play`: the client may have this window of a reply.
 * - `flush`: the client drops the audio it has.
 * - `resume`: the client plays on after a pause.
 */
export interface PlayDecision {
  readonly kind: (typeof kinds)[number];
  /** Of `play` and `flush`. */
  readonly reply?: string | undefined;
  /** Of `play`. */
  readonly window?: number | undefined;
  /** Of the first `play` of a reply: the turn that it belongs to. */
  readonly invocationId?: string | undefined;
}

/** Decisions about audio, as they are committed. Media waits for them, so nothing is audible before its record. */
export const playOut: Outlet<PlayDecision> = outlet(
  'play.out',
  signalSchema<PlayDecision>({
    kind: v.picklist(kinds),
    reply: v.optional(id),
    window: v.optional(count),
    invocationId: v.optional(id),
  }),
  { version: 1 },
);
