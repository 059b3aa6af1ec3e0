import type { NodeInfo } from './event.ts';
import type { CallId, FiringId, InvocationId } from '../identity/ids.ts';

/** What a stream shows before it is committed. Never journaled, and lost without harm. */
export type PartialEvent = PartialText | PartialReset;

/** A piece of something still being made. Pieces of one `(firingId, attempt)` and `kind` join to the whole. */
export type PartialText = {
  readonly type: 'partial';
  readonly firingId: FiringId;
  readonly attempt: number;
  readonly kind: 'text' | 'thinking' | 'progress';
  readonly text: string;
  /** The call whose tool tells its progress. */
  readonly callId?: CallId;
  readonly invocationId: InvocationId;
  /** The agent that makes it. */
  readonly author?: string;
  /** The agents around its author, where some run side by side. */
  readonly branch?: string;
  /** Where in a workflow it is made. */
  readonly nodeInfo?: NodeInfo;
};

/** A new attempt starts: forget the pieces of this firing's attempts before it. */
export type PartialReset = {
  readonly type: 'partial.reset';
  readonly firingId: FiringId;
  readonly attempt: number;
};
