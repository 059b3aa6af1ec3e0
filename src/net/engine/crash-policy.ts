import { readFiringTokens } from './binding.ts';
import type { CompiledTransition } from '../build/compile.ts';
import type { Firing } from '../journal/marking.ts';
import type { CrashPolicy } from '../language/transition.ts';

/** After this many crashes a firing ends as unknown, whatever its policy: the firing itself may cause the crashes. */
export const MAX_CRASHES = 3;

/**
 * Returns the crash policy of a firing.
 * @throws any error that an `onCrash` function throws.
 */
export function resolveCrashPolicy(t: CompiledTransition, firing: Firing): CrashPolicy {
  const { onCrash = 'unknown' } = t.spec;
  return typeof onCrash === 'function' ? onCrash(readFiringTokens(t, firing)) : onCrash;
}
