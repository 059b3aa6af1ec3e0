import * as v from 'valibot';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { count, id, signalSchema } from './signal-schema.ts';

const kinds = ['request', 'cut', 'nudge', 'truncate', 'close'] as const;

/**
 * What a connection is told.
 * - `request`: the model is asked for a reply: to speech, to a message, or to the results of its calls.
 * - `cut`: the model stops its reply.
 * - `nudge`: the model was silent for too long.
 * - `truncate`: the model is told how much of a reply was heard.
 * - `close`: the connection is closed.
 */
export interface ConnectionCommand {
  readonly kind: (typeof kinds)[number];
  readonly conn: string;
  /** Of `truncate`, and of `cut` if a reply was under way. */
  readonly reply?: string | undefined;
  /** Of `truncate`, in milliseconds of the reply's audio. */
  readonly playedMs?: number | undefined;
  /** Of `request`. */
  readonly invocationId?: string | undefined;
  /** Of `request`: the number of the reply in its turn, from 0. */
  readonly round?: number | undefined;
}

/** Commands to send, in order. */
export const commandReady: TokenPlace<ConnectionCommand> = place(
  'command.ready',
  signalSchema<ConnectionCommand>({
    kind: v.picklist(kinds),
    conn: id,
    reply: v.optional(id),
    playedMs: v.optional(count),
    invocationId: v.optional(id),
    round: v.optional(count),
  }),
  { version: 1 },
);
