import type { CompiledNet } from '../../net/index.ts';
import { requirePlace } from './net-queries.ts';

/** How the place is called that ends an invocation; `checkInvariants` takes `turn.stopping` unless said. */
export interface EndInvocationNames {
  /** The termination signal: once it holds a token, nothing new begins. */
  readonly endInvocation: string;
}

/**
 * The signal that ends an invocation keeps every effect from starting: it is an arc of each, not a flag that each must
 * remember to look at.
 * @returns what is wrong, one sentence each
 * @throws InvalidInputError when the net has no such place
 */
export function endInvocationInhibitsAll(
  net: CompiledNet,
  { endInvocation }: EndInvocationNames,
): readonly string[] {
  const signal = requirePlace(net, endInvocation, 'endInvocation').name;
  return net.transitions
    .filter((t) => t.spec.kind === 'effect' && !t.unless.some((place) => place.name === signal))
    .map(
      (t) =>
        `effect "${t.name}" can start after the end: name "${signal}" among what it is \`unless\``,
    );
}
