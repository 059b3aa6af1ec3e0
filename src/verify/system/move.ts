import type { OutputColors } from './labels.ts';

/** The kind of a step: a kind of journal record, or the closing (`draining`) or change (`owned`) of the owner. */
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

/** One possible output of a firing: the places of its deposits in order, and the number of tokens by outlet. */
export interface Variant {
  readonly alternative: string;
  readonly deposits: readonly number[];
  readonly outlets: readonly (readonly [name: string, tokens: number])[];
  /** The number of tokens by output of the alternative. */
  readonly counts: Readonly<Record<string, number>>;
  /** By deposit, the colors that it may have. Undefined if no deposit has a color. */
  readonly colors?: readonly (OutputColors | undefined)[];
}

/** One step from a state: the positions of the removed tokens and the codes of the added tokens. */
export interface Move {
  readonly kind: MoveKind;
  /** The index of the transition; -1 for a step without one. */
  readonly t: number;
  /** The positions of all removed tokens, including resets: each once, in any order. */
  readonly removed: readonly number[];
  /** The positions of the tokens that the inputs take: `removed` without what only a reset removes. */
  readonly taken: readonly number[];
  readonly added: readonly number[];
  readonly variant: Variant | undefined;
  /** The phase after the step. */
  readonly phase: number;
  /** The number of faults that the step uses. */
  readonly faults: number;
  /** The index in `ExpandedNet.environment` of the place that the token enters; -1 for none. */
  readonly environment: number;
  /** For a step of a firing in flight, its position. For a timed step, the positions of the tokens whose clock expired. */
  readonly about: readonly number[];
  /**
   * For a step of a settling: the number of its transition and tokens among those that may be next. The executor chooses
   * one of them by age, so it may never take the steps of another. -1 for a step that can happen whenever it is possible.
   */
  readonly choice: number;
}

const NOTHING: readonly number[] = [];

/** Creates a move of this kind. Omitted facts have neutral defaults. */
export function createMove(kind: MoveKind, facts: Partial<Move>): Move {
  return {
    kind,
    t: facts.t ?? -1,
    removed: facts.removed ?? NOTHING,
    taken: facts.taken ?? facts.removed ?? NOTHING,
    added: facts.added ?? NOTHING,
    variant: facts.variant,
    phase: facts.phase ?? 0,
    faults: facts.faults ?? 0,
    environment: facts.environment ?? -1,
    about: facts.about ?? NOTHING,
    choice: facts.choice ?? -1,
  };
}
