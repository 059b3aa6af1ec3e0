import * as v from 'valibot';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { count, id, signalSchema } from './signal-schema.ts';

const kinds = ['request', 'cut', 'nudge', 'close'] as const;

/**
 * What a connection is told.
 * - `request`: the model is asked for a reply: to speech, to a message, or to the results of its calls.
 * - `cut`: the model stops a reply that nobody has asked for.
 * - `nudge`: the model was silent for too long.
 * - `close`: the connection is closed.
 */
export interface ConnectionCommand {
  readonly kind: (typeof kinds)[number];
  readonly conn: string;
  /** Of `cut`, if the reply has begun. */
  readonly reply?: string | undefined;
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
    invocationId: v.optional(id),
    round: v.optional(count),
  }),
  { version: 1 },
);
