import type { Event } from '../../core/index.ts';

/** Makes a summary of events that the model is then shown in their place. */
export abstract class BaseEventsSummarizer {
  /**
   * An event whose content, or whose `actions.compaction.compactedContent`, is the summary; nothing to leave everything
   * as it is. The first of the events may be the summary made before. What it throws is logged and changes nothing.
   */
  abstract summarizeEvents(params: {
    readonly events: readonly Event[];
    /** Aborts at the timeout and at shutdown. */
    readonly signal: AbortSignal;
    /** Stable over retries and crashes. */
    readonly firingId: string;
    /** 1 for the first; more after a crash. */
    readonly attempt: number;
  }): Promise<Event | undefined>;
}
