/** What one step of the expanded net is called: the kinds of the journal, and the two ends of an ownership. */
export type MoveKind =
  | 'injected'
  | 'fired'
  | 'started'
  | 'ended'
  | 'retrying'
  | 'restarted'
  | 'faulted'
  | 'draining'
  | 'owned';

/** What a firing gives: token places in the order of the deposits, and how many tokens leave by each outlet. */
export interface Variant {
  readonly alternative: string;
  readonly deposits: readonly number[];
  readonly outlets: readonly (readonly [name: string, tokens: number])[];
  /** By output of the alternative: how many tokens. */
  readonly counts: Readonly<Record<string, number>>;
}

/** One step: which tokens go, by position in the word, and which letters come. */
export interface Move {
  readonly kind: MoveKind;
  /** The transition; -1 when the step is nobody's. */
  readonly t: number;
  /** Every position that is emptied, resets included; in no order. */
  readonly removed: readonly number[];
  readonly added: readonly number[];
  readonly variant: Variant | undefined;
  /** The phase after it. */
  readonly phase: number;
  /** Faults it uses up. */
  readonly faults: number;
  /** The environment place it draws on, by its number in the expanded net; -1 for none. */
  readonly environment: number;
  /** For a firing in flight: where it stands in the word; a timed step: where the tokens stand whose clock ran out. */
  readonly about: readonly number[];
}
