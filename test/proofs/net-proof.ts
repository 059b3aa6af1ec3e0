/** What is proved of a shipped net, and which faults planted in it are found out. */
import { compile } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { prove } from '../../src/verify/index.ts';
import type { Bounds, ProofReport, Property } from '../../src/verify/index.ts';

/** Properties that are proved together, within the same bounds. */
export interface Claim {
  readonly properties: readonly Property[];
  readonly bounds: Bounds;
  /** By a search of all states unless said: a net whose tokens grow without end has too many. */
  readonly route?: 'search' | 'solver';
}

/** The net with one fault. The property that must notice it holds for the net as it is. */
export interface Mutant {
  /** What is wrong with it, to be read after "it". */
  readonly that: string;
  readonly net: Net;
  readonly property: Property;
  readonly bounds: Bounds;
  /** What its trace must show. */
  readonly shows?: RegExp;
}

const PATIENCE_MS = 600_000;

export interface NetProof {
  /** As the list of proofs calls it. */
  readonly name: string;
  readonly net: Net;
  readonly claims: readonly Claim[];
  readonly mutants: readonly Mutant[];
}

/** Gives up for too many states, and not because the machine is busy. */
export async function proveClaim(
  net: Net,
  { properties, bounds, route = 'search' }: Claim,
): Promise<ProofReport> {
  return prove(compile(net), {
    properties,
    bounds: { searchTimeoutMs: PATIENCE_MS, ...bounds },
    route,
    solverLimits: { timeoutMs: PATIENCE_MS },
  });
}

/** Asks for the property that a mutant breaks. */
export async function proveMutant({ net, property, bounds }: Mutant): Promise<ProofReport> {
  return proveClaim(net, { properties: [property], bounds });
}
