import type { EffectFailure, Retry } from './transition.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/**
 * Returns the delay before the next attempt, in milliseconds, or undefined if there is no further attempt.
 * @throws RangeError if a `backoff` function returns a number that is not finite.
 * @throws any error that a `backoff` function throws.
 */
export function retryDelay(retry: Retry | undefined, failure: EffectFailure): number | undefined {
  if (retry === undefined || failure.attempt >= retry.attempts) return undefined;
  if (typeof retry.backoff === 'function') {
    const delay = retry.backoff(failure);
    if (delay === undefined) return undefined;
    if (!Number.isFinite(delay)) {
      throw new RangeError(`backoff() returned ${delay}; expected a finite number of milliseconds`);
    }
    return Math.max(0, delay);
  }
  const [first, last] = parseBackoff(retry.backoff);
  return Math.min(last, first * 2 ** (failure.attempt - 1));
}

const BACKOFF = /^(\d+(?:\.\d+)?)(ms|s|m)\.\.(\d+(?:\.\d+)?)(ms|s|m)$/;

/** True for a text such as `'1s..30s'`. */
export function isBackoff(text: string): boolean {
  return BACKOFF.test(text);
}

/** `'1s..30s'` → `[1000, 30000]`. */
function parseBackoff(backoff: string): readonly [firstMs: number, lastMs: number] {
  const [, first = '0', firstUnit = 's', last = '0', lastUnit = 's'] = BACKOFF.exec(backoff) ?? [];
  return [Number(first) * (UNIT_MS[firstUnit] ?? 1), Number(last) * (UNIT_MS[lastUnit] ?? 1)];
}
