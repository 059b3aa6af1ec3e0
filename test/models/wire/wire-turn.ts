import type { ScriptedTurn } from 'petrichor/testing';

/** What a wire server answers to one request: a scripted turn, and what may go wrong on a wire. */
export type WireTurn = ScriptedTurn & {
  /** How the stream ends early: after all deltas but before its end, cleanly or by a broken connection; or inside a call. */
  readonly cut?: 'clean' | 'reset' | 'in-call';
  /** A frame that is not JSON, after the text. */
  readonly garbage?: true;
  /** Every byte of the body comes alone. */
  readonly bytewise?: true;
  /** Each delta is sent only when `WireServer.release` was called once more. */
  readonly held?: true;
  /** Nothing is answered at all, or nothing more after the deltas. */
  readonly hangs?: 'before' | 'after';
  /** An answer of something in between, in HTML. */
  readonly html?: number;
  /** Says the wait as a header of this name instead of in the body or `retry-after`. */
  readonly retryHeader?: 'retry-after-ms' | 'retry-after-date';
  /** Calls come without an id, whatever the turn says. */
  readonly withoutIds?: true;
};
