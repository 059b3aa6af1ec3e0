import type { Json } from '../../core/json/json.ts';

/** The number of a journal record within its session: starts at 1, no gaps. */
export type RecordSeq = number;

/** A token's name: `<record seq>.<index among the tokens that record made>`. */
export type TokenId = string;

/** Tokens leaving one place: `[place, ...ids]`. */
export type TokenRemoval = readonly [place: string, ...ids: TokenId[]];

/**
 * Tokens entering one place: `[place, value]`, with the clocks they start (`due`, by timed transition, epoch ms)
 * and how many equal ones there are (`times`).
 */
export type Deposit =
  | readonly [place: string, value: Json]
  | readonly [place: string, value: Json, more: { readonly due?: Due; readonly times?: number }];

/** When each timed transition may take a token, by transition name, in epoch milliseconds. */
export type Due = Readonly<Record<string, number>>;

/**
 * A change of a list place. Counted from the END of the list, so that a reader who holds only the
 * newest part of a list applies it correctly.
 */
export type ListChange =
  | { readonly place: string; readonly append: readonly Json[] }
  | { readonly place: string; readonly keepLast: number; readonly prefix: readonly Json[] }
  | { readonly place: string; readonly dropLast: number };

/** A change of a map place, key by key. `increment` and `append` merge with what others wrote. */
export interface MapChange {
  readonly place: string;
  readonly set?: Readonly<Record<string, Json>>;
  readonly delete?: readonly string[];
  readonly increment?: Readonly<Record<string, number>>;
  readonly append?: Readonly<Record<string, readonly Json[]>>;
  /** Removes every key not named in `set`: what a rewind writes. Keys with a shared prefix stay. */
  readonly replace?: true;
}

/** What a firing puts into the net. Absent members mean none. */
export interface RecordOutputs {
  readonly give?: readonly Deposit[];
  readonly lists?: readonly ListChange[];
  readonly maps?: readonly MapChange[];
}

/** What an effect read when it started, so that a later attempt sees the same. */
export interface Pin {
  readonly tokens?: readonly TokenRemoval[];
  /** `[version, length]` by list place. */
  readonly lists?: Readonly<Record<string, readonly [version: number, length: number]>>;
  /** Map places, as they were at this record. */
  readonly maps?: readonly string[];
}

export type EndedOutcome = 'ok' | 'failed' | 'timeout' | 'cancelled' | 'unknown';

interface Base {
  readonly seq: RecordSeq;
  /** Epoch milliseconds; never less than the record before. */
  readonly at: number;
}

/** Which net a session's tokens belong to. */
export interface NetVersion {
  readonly hash: string;
  /** By place, for places that declare one. */
  readonly versions: Readonly<Record<string, number>>;
}

/** A token came from outside. `key` is its dedupe key. The first record of a session says which net it is for. */
export interface Injected extends Base {
  readonly kind: 'injected';
  readonly give: readonly Deposit[];
  readonly key?: string;
  readonly net?: NetVersion;
}

/** A pure transition fired. `aborted` names firings it took or reset. */
export interface Fired extends Base, RecordOutputs {
  readonly kind: 'fired';
  readonly t: string;
  readonly take?: readonly TokenRemoval[];
  readonly reset?: readonly TokenRemoval[];
  readonly aborted?: readonly RecordSeq[];
}

/** An effect started: its inputs are held by the firing, whose number is this record's `seq`. */
export interface Started extends Base {
  readonly kind: 'started';
  readonly t: string;
  readonly take?: readonly TokenRemoval[];
  readonly reset?: readonly TokenRemoval[];
  readonly aborted?: readonly RecordSeq[];
  readonly pin?: Pin;
  readonly timeoutAt: number;
}

/** An effect finished, and what it gave. */
export interface Ended extends Base, RecordOutputs {
  readonly kind: 'ended';
  readonly t: string;
  readonly firing: RecordSeq;
  readonly outcome: EndedOutcome;
  /** Why it did not end `ok`, as a sentence. */
  readonly reason?: string;
}

/** An attempt failed; the next one starts at `dueAt`. The firing keeps its inputs. */
export interface Retrying extends Base {
  readonly kind: 'retrying';
  readonly t: string;
  readonly firing: RecordSeq;
  readonly dueAt: number;
  readonly reason: string;
}

/** A new attempt of the same firing starts, after a retry delay or a crash. */
export interface Restarted extends Base {
  readonly kind: 'restarted';
  readonly t: string;
  readonly firing: RecordSeq;
  readonly attempt: number;
  readonly cause: 'retry' | 'crash';
  readonly timeoutAt: number;
}

/**
 * A transition could not do what it declared. Its inputs and the error wait in the place `net.fault`; in
 * `net.fault.unhandled` when it was itself to deal with a fault, so that a fault never breeds faults.
 * `aborted` names firings it would have taken: their inputs are held too.
 */
export interface Faulted extends Base {
  readonly kind: 'faulted';
  readonly t: string;
  /** Absent for a firing of an effect: the firing held the inputs already. */
  readonly take?: readonly TokenRemoval[];
  readonly aborted?: readonly RecordSeq[];
  readonly firing?: RecordSeq;
  readonly error: { readonly code: string; readonly message: string };
}

/** A result arrived for a firing that is no longer there; nothing was changed. */
export interface Discarded extends Base {
  readonly kind: 'discarded';
  readonly t: string;
  readonly firing: RecordSeq;
}

/** The session went on under a changed net. */
export interface Upgraded extends Base {
  readonly kind: 'upgraded';
  readonly from: string;
  readonly to: NetVersion;
  /** Places (or `running(t)`) that the agent's `migrate` renamed or, with null, emptied, all at once; and the tokens it put. */
  readonly moved?: Readonly<Record<string, string | null>>;
  /** Clocks of timed transitions that are new to a token, by token. */
  readonly clocks?: Readonly<Record<TokenId, Due>>;
  readonly give?: readonly Deposit[];
}

/** A runtime took the session. */
export interface Owned extends Base {
  readonly kind: 'owned';
  readonly owner: string;
  readonly epoch: number;
}

/** Shared state (`user:`, `app:`) as it was when an invocation began; replaces the mirror in the map place. */
export interface Loaded extends Base {
  readonly kind: 'loaded';
  readonly place: string;
  readonly entries: Readonly<Record<string, Json>>;
  /** The version of each shared key, to judge conflicts by. */
  readonly versions: Readonly<Record<string, number>>;
}

/** One journal entry: the whole effect of one firing, so that applying records in order is recovery. */
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
  | Loaded;
