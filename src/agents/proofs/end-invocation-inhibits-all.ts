import type { CompiledNet } from '../../net/index.ts';
import { requirePlace } from './net-queries.ts';

/** The name of the place that ends an invocation. `checkInvariants` uses `turn.stopping` by default. */
export interface EndInvocationNames {
  /** The termination signal: once it has a token, no effect begins. */
  readonly endInvocation: string;
}

/**
 * Checks that the signal that ends an invocation inhibits every effect with an arc, so that no effect depends on its code
 * to check a flag.
 * @returns the problems, one sentence each
 * @throws InvalidInputError when the net does not have the place
 */
export function endInvocationInhibitsAll(
  net: CompiledNet,
  { endInvocation }: EndInvocationNames,
): readonly string[] {
  const signal = requirePlace(net, endInvocation, 'endInvocation').name;
  return net.transitions
    .filter((t) => t.spec.kind === 'effect' && !t.unless.some((place) => place.name === signal))
    .map((t) => `effect "${t.name}" can start after the end: add "${signal}" to its \`unless\``);
}
