import { InvalidInputError } from '../../core/index.ts';
import { describeValue } from '../../core/internal.ts';
import { PnmlLimitError } from './pnml-errors.ts';
import type { PnmlLimitName, PnmlLocation } from './pnml-errors.ts';

/** The limits of an import, which protect the process from a document that is too large or malicious. */
export interface PnmlLimits {
  /** Bytes of the document. Default: 10,000,000. */
  readonly bytes?: number;
  /** The nesting of XML elements. Default: 100. */
  readonly depth?: number;
  /** XML elements. Default: 500,000. */
  readonly elements?: number;
  /** Colors of one sort. Default: 10,000. */
  readonly colors?: number;
  /**
   * Steps of unfolding: colors that are tried for a variable, and colors that a term evaluates to. Default: 10,000,000.
   */
  readonly steps?: number;
  /** Places after unfolding. Default: 20,000. */
  readonly places?: number;
  /** Transitions after unfolding. Default: 20,000. */
  readonly transitions?: number;
  /** Arcs after unfolding; an arc counts as often as its weight. Default: 500,000. */
  readonly arcs?: number;
  /** Tokens of the initial marking. Default: 10,000. */
  readonly tokens?: number;
  /** Tokens that one firing takes from, or gives to, one place. Default: 1,000. */
  readonly weight?: number;
}

const DEFAULTS: Required<PnmlLimits> = {
  bytes: 10_000_000,
  depth: 100,
  elements: 500_000,
  colors: 10_000,
  steps: 10_000_000,
  places: 20_000,
  transitions: 20_000,
  arcs: 500_000,
  tokens: 10_000,
  weight: 1_000,
};

/** The names of the limits, as options. */
export const LIMIT_NAMES: Readonly<Record<PnmlLimitName, true>> = {
  bytes: true,
  depth: true,
  elements: true,
  colors: true,
  steps: true,
  places: true,
  transitions: true,
  arcs: true,
  tokens: true,
  weight: true,
};

/** Compares numbers with the limits of one import. */
export class LimitCheck {
  readonly #limits: Required<PnmlLimits>;
  #steps = 0;

  constructor(limits: PnmlLimits = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
    for (const [name, limit] of Object.entries<unknown>(this.#limits)) {
      if (typeof limit !== 'number' || !(limit >= 0)) {
        throw new InvalidInputError(
          `limits.${name}`,
          `is ${describeValue(limit)}; expected a number of at least 0.`,
        );
      }
    }
  }

  /**
   * Checks that a number does not exceed a limit.
   * @throws PnmlLimitError if it does. `what` begins its message.
   */
  atMost(limit: PnmlLimitName, value: number, what: string, at?: PnmlLocation): void {
    const max = this.#limits[limit];
    if (value <= max) return;
    throw new PnmlLimitError(limit, max, what, at);
  }

  /**
   * Counts steps of unfolding.
   * @throws PnmlLimitError if they exceed their limit.
   */
  countSteps(steps: number, at: PnmlLocation): void {
    this.#steps += steps;
    this.atMost('steps', this.#steps, 'unfolding takes more steps', at);
  }
}
