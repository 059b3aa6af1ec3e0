import * as v from 'valibot';
import { outlet } from '../../net/index.ts';
import type { Outlet } from '../../net/index.ts';
import { count, id, signalSchema } from './signal-schema.ts';

const kinds = ['play', 'flush', 'truncate', 'resume'] as const;

/**
 * A committed decision about audio.
 * - `play`: the client may have this window of a reply.
 * - `flush`: the client drops the audio it has, and the model stops the reply.
 * - `truncate`: the model is told how much of a reply was heard.
 * - `resume`: the client plays on after a pause.
 */
export interface PlayDecision {
  readonly kind: (typeof kinds)[number];
  /** Of `play`, `truncate`, and of `flush` if a reply is cut. */
  readonly reply?: string | undefined;
  /** Of `play`. */
  readonly window?: number | undefined;
  /** Of `truncate`, in milliseconds of the reply's audio. */
  readonly playedMs?: number | undefined;
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
    playedMs: v.optional(count),
    invocationId: v.optional(id),
  }),
  { version: 1 },
);
