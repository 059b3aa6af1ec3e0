/** The properties that are proved of a shipped net, and its mutants, which must be refuted. */
import assert from 'node:assert/strict';
import { compile } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { prove } from '../../src/verify/index.ts';
import type { Bounds, ComponentTree, ProofReport, Property } from '../../src/verify/index.ts';

/** Properties that are proved together, within the same bounds. */
export interface Claim {
  readonly properties: readonly Property[];
  readonly bounds: Bounds;
  /** Default: a search of all states. Use the solver for a net whose tokens grow without end. */
  readonly route?: 'search' | 'solver';
  /** Smaller proofs of the properties, for `npm test`. The long tests prove the claim itself. Default: the claim. */
  readonly quick?: readonly Pick<Claim, 'bounds' | 'route'>[];
}

/** The net with one defect. The property that must find it holds for the unchanged net. */
export interface Mutant {
  /** The defect, as a text that follows "it". */
  readonly that: string;
  readonly net: Net;
  readonly property: Property;
  readonly bounds: Bounds;
  /** The steps that its trace must have. */
  readonly shows?: RegExp;
}

const PATIENCE_MS = 600_000;

export interface NetProof {
  /** The name in the list of proofs. */
  readonly name: string;
  readonly net: Net;
  readonly claims: readonly Claim[];
  readonly mutants: readonly Mutant[];
  /** The net as components with contracts. Default: none. */
  readonly components?: ComponentTree;
}

/**
 * The bounds several times, each time with one token less of one of these inputs. Two inputs together cost about ten
 * times as much as each of them, so this is a good `quick` form of a claim.
 */
export function withoutEach(
  bounds: Bounds,
  inputs: readonly string[],
): readonly { readonly bounds: Bounds }[] {
  const { environment = {} } = bounds;
  return inputs.map((input) => {
    const tokens = environment[input] ?? 1;
    assert.ok(tokens > 0, `the bounds have no token of ${input}`);
    return { bounds: { ...bounds, environment: { ...environment, [input]: tokens - 1 } } };
  });
}

/** Limits states and not time, so that the result does not depend on the load of the machine. */
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

/** Proves the property that a mutant violates. */
export async function proveMutant({ net, property, bounds }: Mutant): Promise<ProofReport> {
  return proveClaim(net, { properties: [property], bounds });
}
