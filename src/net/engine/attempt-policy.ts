import { readFiringTokens } from './binding.ts';
import type { CompiledTransition } from '../build/compile.ts';
import type { Firing } from '../journal/marking.ts';
import type { CrashPolicy } from '../language/transition.ts';

const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * Returns the timeout of an attempt, in milliseconds.
 * @throws RangeError if a `timeoutMs` function returns a number that is not finite, or any error that it throws.
 */
export function resolveTimeoutMs(
  t: CompiledTransition,
  tokens: () => Record<string, unknown>,
): number {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = t.spec;
  const ms = typeof timeoutMs === 'function' ? timeoutMs(tokens()) : timeoutMs;
  if (Number.isFinite(ms)) return Math.max(0, ms);
  throw new RangeError(
    `timeoutMs() of "${t.name}" returned ${ms}; expected a finite number of milliseconds`,
  );
}

/**
 * Returns the crash policy of a firing.
 * @throws any error that an `onCrash` function throws.
 */
export function resolveCrashPolicy(t: CompiledTransition, firing: Firing): CrashPolicy {
  const { onCrash = 'unknown' } = t.spec;
  return typeof onCrash === 'function' ? onCrash(readFiringTokens(t, firing)) : onCrash;
}
