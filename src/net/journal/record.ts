import type { Json, StateWrites } from '../../core/index.ts';
import type { EncodedMarking } from './marking-format.ts';
import type { Due, NetVersion, RecordSeq, TokenId } from './record-parts.ts';

export type { Due, NetVersion, RecordSeq, TokenId } from './record-parts.ts';

/** Tokens removed from one place: `[place, ...ids]`. */
export type TokenRemoval = readonly [place: string, ...ids: TokenId[]];

/**
 * Tokens added to one place: `[place, value]`. `due` holds the clocks that they start, by timed transition, in epoch
 * milliseconds. `times` is the number of equal tokens. Default of `times`: 1.
 */
export type Deposit =
  | readonly [place: string, value: Json]
  | readonly [place: string, value: Json, more: { readonly due?: Due; readonly times?: number }];

/**
 * A change of a list place. Positions count from the END of the list, so that a reader that has only the newest part of
 * the list can apply it.
 */
export type ListChange =
  | { readonly place: string; readonly append: readonly Json[] }
  | { readonly place: string; readonly keepLast: number; readonly prefix: readonly Json[] }
  | { readonly place: string; readonly dropLast: number };

/** A change of a map place, key by key. `increment` and `append` merge with concurrent writes. */
export interface MapChange extends StateWrites {
  readonly place: string;
  /** Removes every key that is not in `set`, except shared keys. A rewind writes this. */
  readonly replace?: true;
}

/** The outputs of a firing. An absent member means none. */
export interface RecordOutputs {
  readonly give?: readonly Deposit[];
  readonly lists?: readonly ListChange[];
  readonly maps?: readonly MapChange[];
}

/** The values that an effect read when it started. A later attempt reads the same values. */
export interface Pin {
  readonly tokens?: readonly TokenRemoval[];
  /** `[version, length]` by list place. */
  readonly lists?: Readonly<Record<string, readonly [version: number, length: number]>>;
  /** The names of map places. Their content is that before this record. */
  readonly maps?: readonly string[];
}

/** The outcome of a firing of an effect. */
export type EndedOutcome = 'ok' | 'failed' | 'timeout' | 'cancelled' | 'unknown';

interface Base {
  readonly seq: RecordSeq;
  /** Epoch milliseconds. Never less than in the previous record. */
  readonly at: number;
}

/** Tokens came from outside. `key` is the deduplication key. The first record of a session has `net`. */
export interface Injected extends Base {
  readonly kind: 'injected';
  readonly give: readonly Deposit[];
  readonly key?: string;
  readonly net?: NetVersion;
}

/** A pure transition fired. `aborted` lists the firings that it took or reset. */
export interface Fired extends Base, RecordOutputs {
  readonly kind: 'fired';
  readonly t: string;
  readonly take?: readonly TokenRemoval[];
  readonly reset?: readonly TokenRemoval[];
  readonly aborted?: readonly RecordSeq[];
}

/** An effect started. The firing holds its inputs. The id of the firing is the `seq` of this record. */
export interface Started extends Base {
  readonly kind: 'started';
  readonly t: string;
  readonly take?: readonly TokenRemoval[];
  readonly reset?: readonly TokenRemoval[];
  readonly aborted?: readonly RecordSeq[];
  readonly pin?: Pin;
  readonly timeoutAt: number;
}

/** An effect ended, with its outputs. */
export interface Ended extends Base, RecordOutputs {
  readonly kind: 'ended';
  readonly t: string;
  readonly firing: RecordSeq;
  readonly outcome: EndedOutcome;
  /** Why the outcome is not `ok`, as a sentence. */
  readonly reason?: string;
}

/** An attempt failed. The next attempt starts at `dueAt` (epoch milliseconds). The firing keeps its inputs. */
export interface Retrying extends Base {
  readonly kind: 'retrying';
  readonly t: string;
  readonly firing: RecordSeq;
  readonly dueAt: number;
  readonly reason: string;
}

/** A new attempt of a firing starts, after a retry delay or a crash. */
export interface Restarted extends Base {
  readonly kind: 'restarted';
  readonly t: string;
  readonly firing: RecordSeq;
  readonly attempt: number;
  readonly cause: 'retry' | 'crash';
  readonly timeoutAt: number;
}

/**
 * A firing failed. Its inputs and the error become a token of `net.fault`. If the transition itself takes from
 * `net.fault`, they become a token of `net.fault.unhandled`, so that a fault cannot cause an endless chain of faults.
 * `aborted` lists the firings that it would have taken; the fault holds their inputs too.
 */
export interface Faulted extends Base {
  readonly kind: 'faulted';
  readonly t: string;
  /** Absent for a firing in flight, which holds its inputs already. */
  readonly take?: readonly TokenRemoval[];
  readonly aborted?: readonly RecordSeq[];
  readonly firing?: RecordSeq;
  readonly error: { readonly code: string; readonly message: string };
}

/** A result arrived for a firing or attempt that had ended. It changes nothing. */
export interface Discarded extends Base {
  readonly kind: 'discarded';
  readonly t: string;
  readonly firing: RecordSeq;
}

/** The session continues under a changed net. */
export interface Upgraded extends Base {
  readonly kind: 'upgraded';
  readonly from: string;
  readonly to: NetVersion;
  /**
   * Places (or `running(t)`) that the new net calls by another name, and those that the agent's `migrate` renamed or
   * emptied (null). All moves happen at once.
   */
  readonly moved?: Readonly<Record<string, string | null>>;
  /** New clocks by token: those of transitions that were not timed for that token before. */
  readonly clocks?: Readonly<Record<TokenId, Due>>;
  /** Tokens that `migrate` added. */
  readonly give?: readonly Deposit[];
}

/** A runtime became the owner of the session. */
export interface Owned extends Base {
  readonly kind: 'owned';
  readonly owner: string;
  readonly epoch: number;
}

/** Shared state (`user:`, `app:`) was loaded when an invocation began. It replaces the copy in the map place. */
export interface Loaded extends Base {
  readonly kind: 'loaded';
  readonly place: string;
  readonly entries: Readonly<Record<string, Json>>;
  /** The version of each shared key, used to detect conflicts. */
  readonly versions: Readonly<Record<string, number>>;
}

/**
 * The records up to this one were removed: the journal begins with the marking that they gave. `seq` and `at` are those of
 * the last removed record.
 */
export interface Trimmed extends Base {
  readonly kind: 'trimmed';
  readonly marking: EncodedMarking;
}

/** One journal record: the whole effect of one firing or input. Applying all records in order is recovery. */
export type JournalRecord =
  | Injected
  | Fired
  | Started
  | Ended
  | Retrying
  | Restarted
  | Faulted
  | Discarded
  | Upgraded
  | Owned
  | Loaded
  | Trimmed;
