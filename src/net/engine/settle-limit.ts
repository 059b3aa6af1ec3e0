import { PetrichorError } from '../../core/internal.ts';
import type { Marking } from '../journal/marking.ts';
import type { JournalRecord } from '../journal/record.ts';

/** A net that fires this often in one settling, and more often for each token, is considered to be in an endless loop. */
export const MAX_FIRINGS_PER_SETTLE = 10_000;
/** The additional firings for each token and each firing in flight with which a settling begins. */
export const MAX_FIRINGS_PER_TOKEN = 100;
/** A transition that fires more often than this in such a settling is considered to be part of the loop. */
const MANY_FIRINGS = 100;

/** Returns how often a net may fire in a settling that begins with this many tokens and firings in flight. */
export function limitFirings(tokens: number): number {
  return MAX_FIRINGS_PER_SETTLE + MAX_FIRINGS_PER_TOKEN * tokens;
}

/** Returns the number of tokens and firings in flight of a marking. */
export function countForLimit({ tokens, firings }: Pick<Marking, 'tokens' | 'firings'>): number {
  let count = firings.size;
  for (const inPlace of tokens.values()) count += inPlace.length;
  return count;
}

/**
 * Stops an endless loop of firings: the next firing becomes a fault, and so does every later firing of a transition
 * that fired often. A fault consumes its inputs and outputs only itself, so the settling ends.
 */
export class SettleLimit {
  readonly #fired = new Map<string, number>();
  #refused = false;

  constructor(records: readonly JournalRecord[]) {
    for (const record of records) {
      if (record.kind === 'fired' || record.kind === 'started') this.#count(record.t);
    }
  }

  /** True if `t` may not fire again in this settling. */
  refuses(t: string): boolean {
    const first = !this.#refused;
    this.#refused = true;
    return this.#count(t) > MANY_FIRINGS || first;
  }

  #count(t: string): number {
    const count = (this.#fired.get(t) ?? 0) + 1;
    this.#fired.set(t, count);
    return count;
  }
}

/**
 * The net is in an endless loop of pure firings. Faults hold the tokens of the loop.
 * @remedy Break the loop with an effect, a timer or an input from outside.
 */
export class SettleLimitError extends PetrichorError {
  override readonly code = 'settle_limit' as const;

  /** @param firings how often the net fired in the settling */
  constructor(firings: number) {
    super(
      `The net fired ${firings} times in one settling. Break the loop with an effect, a timer or an input from outside.`,
    );
  }
}
