import type { NodeInfo } from './event.ts';
import type { CallId, FiringId, InvocationId } from '../identity/ids.ts';

/** An event of a stream before its content is committed. It is never journaled, and losing it does no harm. */
export type PartialEvent = PartialText | PartialReset;

/** A piece of streamed output. The pieces of one `firingId`, `attempt` and `kind` join to the whole. */
export type PartialText = {
  readonly type: 'partial';
  readonly firingId: FiringId;
  readonly attempt: number;
  readonly kind: 'text' | 'thinking' | 'progress';
  readonly text: string;
  /**
   * For `text` and `thinking`: how many characters of this kind came before it in its attempt. A reader that has fewer
   * missed some.
   */
  readonly offset?: number;
  /** For `progress`: the call whose tool reports it. */
  readonly callId?: CallId;
  readonly invocationId: InvocationId;
  /** The agent that produces it. */
  readonly author?: string;
  /** The branch of its author, if agents run in parallel. */
  readonly branch?: string;
  /** The position in a workflow where it is produced. */
  readonly nodeInfo?: NodeInfo;
};

/** A new attempt starts. Discard the pieces of previous attempts of this firing. */
export type PartialReset = {
  readonly type: 'partial.reset';
  readonly firingId: FiringId;
  readonly attempt: number;
};
