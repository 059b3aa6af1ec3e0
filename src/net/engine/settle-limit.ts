import { PetrichorError } from '../../core/errors/petrichor-error.ts';
import type { JournalRecord } from '../journal/record.ts';

/** After this many firings without rest a net is taken to feed itself: it could not be stopped any more. */
export const MAX_FIRINGS_PER_SETTLE = 10_000;
/** A transition that fired more often than this in such a settling is part of what feeds itself. */
const MANY_FIRINGS = 100;

/**
 * Brings a net to rest that fired too often: the next firing faults instead, and then each of a transition that has
 * fired often. A fault consumes and gives nothing but itself, so the net does come to rest.
 */
export class SettleLimit {
  readonly #fired = new Map<string, number>();
  #refused = false;

  constructor(records: readonly JournalRecord[]) {
    for (const record of records) {
      if (record.kind === 'fired' || record.kind === 'started') this.#count(record.t);
    }
  }

  /** True when `t` may not fire again in this settling. */
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

/** The net feeds itself. The tokens that would have kept it going are held by faults. */
export class SettleLimitError extends PetrichorError {
  override readonly code = 'settle_limit' as const;

  constructor() {
    super(
      `The net fired ${MAX_FIRINGS_PER_SETTLE} times without rest: let something outside decide when it goes on.`,
    );
  }
}
