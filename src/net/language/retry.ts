import type { EffectFailure, Retry } from './transition.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/**
 * How long to wait before the next attempt, in milliseconds; undefined when this was the last.
 * @throws what a `backoff` function throws, RangeError when it says no time.
 */
export function retryDelay(retry: Retry | undefined, failure: EffectFailure): number | undefined {
  if (retry === undefined || failure.attempt >= retry.attempts) return undefined;
  if (typeof retry.backoff === 'function') {
    const delay = retry.backoff(failure);
    if (delay === undefined) return undefined;
    if (!Number.isFinite(delay)) throw new RangeError(`a retry delay of ${delay} ms is no time`);
    return Math.max(0, delay);
  }
  const [first, last] = parseBackoff(retry.backoff);
  return Math.min(last, first * 2 ** (failure.attempt - 1));
}

const BACKOFF = /^(\d+(?:\.\d+)?)(ms|s|m)\.\.(\d+(?:\.\d+)?)(ms|s|m)$/;

export function isBackoff(text: string): boolean {
  return BACKOFF.test(text);
}

/** `'1s..30s'` → `[1000, 30000]`. */
function parseBackoff(backoff: string): readonly [firstMs: number, lastMs: number] {
  const [, first = '0', firstUnit = 's', last = '0', lastUnit = 's'] = BACKOFF.exec(backoff) ?? [];
  return [Number(first) * (UNIT_MS[firstUnit] ?? 1), Number(last) * (UNIT_MS[lastUnit] ?? 1)];
}
