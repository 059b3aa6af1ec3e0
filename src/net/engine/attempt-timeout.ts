import type { CompiledTransition } from '../build/compile.ts';

const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * Returns the timeout of an attempt, in milliseconds: at least 1, so that no attempt ends in the settling that starts it.
 * @throws RangeError if a `timeoutMs` function returns a number that is not finite, or any error that it throws.
 */
export function resolveTimeoutMs(
  t: CompiledTransition,
  tokens: () => Record<string, unknown>,
): number {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = t.spec;
  const ms = typeof timeoutMs === 'function' ? timeoutMs(tokens()) : timeoutMs;
  if (Number.isFinite(ms)) return Math.max(1, ms);
  throw new RangeError(
    `timeoutMs() of "${t.name}" returned ${ms}; expected a finite number of milliseconds`,
  );
}
