import type { Event } from '../../core/index.ts';

/** Summarizes events. Models are then shown the summary instead of the events. */
export abstract class BaseEventsSummarizer {
  /**
   * Returns an event whose content, or whose `actions.compaction.compactedContent`, is the summary, or `undefined` to
   * keep the events as they are. The first event may be the previous summary. An error is logged and leaves the
   * conversation unchanged.
   */
  abstract summarizeEvents(params: {
    readonly events: readonly Event[];
    /** Aborts at the timeout and at shutdown. */
    readonly signal: AbortSignal;
    /** Identifies this summary. Stays the same across retries and crashes. */
    readonly firingId: string;
    /** Starts at 1 and grows with each run after a crash. */
    readonly attempt: number;
  }): Promise<Event | undefined>;
}
