import type { ScriptedTurn } from 'petrichor/testing';

/** The response of a wire server to one request: a scripted turn, and transport failures. */
export type WireTurn = ScriptedTurn & {
  /**
   * How the stream ends early: after all deltas but before its end, cleanly or with a broken
   * connection; or inside a call.
   */
  readonly cut?: 'clean' | 'reset' | 'in-call';
  /** Adds a frame that is not JSON after the text. */
  readonly garbage?: true;
  /** Sends every byte of the body separately. */
  readonly bytewise?: true;
  /** Sends each delta only after another call of `WireServer.release`. */
  readonly held?: true;
  /** Sends no response at all, or nothing after the deltas. */
  readonly hangs?: 'before' | 'after';
  /** Sends an HTML response, as a proxy would. */
  readonly html?: number;
  /** Sends the wait in a header of this name instead of in the body or `retry-after`. */
  readonly retryHeader?: 'retry-after-ms' | 'retry-after-date';
  /** Sends calls without an id, whatever the turn contains. */
  readonly withoutIds?: true;
};
