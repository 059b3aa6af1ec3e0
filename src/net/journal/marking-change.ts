import type { Firing, Token } from './marking.ts';

/** A change of a firing in flight. `aborted` means that another firing took or reset it. */
export interface FiringChange {
  readonly change: 'started' | 'updated' | 'ended' | 'aborted';
  /** The firing after the change, or as it was before it ended. */
  readonly firing: Firing;
}

/** A token that arrived in a place and started clocks. */
export interface ClockedToken {
  readonly place: string;
  readonly token: Token;
}

/** The tokens and firings that a record changed in a marking. Changes of lists and maps are not part of it. */
export interface MarkingChange {
  /** The places whose tokens changed, in the order of the changes. A place may appear several times. */
  readonly places: readonly string[];
  readonly clocked: readonly ClockedToken[];
  /** In the order of the changes. */
  readonly firings: readonly FiringChange[];
  /**
   * True if the record moved the marking to another net, or if a trimmed journal begins with it. Any place, firing and clock
   * may then have changed.
   */
  readonly isUpgrade: boolean;
}

/** The change that `applyRecord` collects. */
export interface CollectedChange extends MarkingChange {
  readonly places: string[];
  readonly clocked: ClockedToken[];
  readonly firings: FiringChange[];
}
