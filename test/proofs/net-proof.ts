/** What is proved of a shipped net, and which faults planted in it are found out. */
import { compile } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { prove } from '../../src/verify/index.ts';
import type { Bounds, ProofReport, Property } from '../../src/verify/index.ts';

/** Properties that are proved together, within the same bounds. */
export interface Claim {
  readonly properties: readonly Property[];
  readonly bounds: Bounds;
  /** By a search of all states unless said: a net whose tokens grow without end has too many. */
  readonly route?: 'solver';
}

/** The net with one fault. The property that must notice it holds for the net as it is. */
export interface Mutant {
  /** What is wrong with it, to be read after "that". */
  readonly that: string;
  readonly net: Net;
  readonly property: Property;
  readonly bounds: Bounds;
  /** What its trace must show. */
  readonly shows?: RegExp;
}

export interface NetProof {
  /** As the list of proofs calls it. */
  readonly name: string;
  readonly net: Net;
  readonly claims: readonly Claim[];
  readonly mutants: readonly Mutant[];
}

/** Proves every claim of a net; one report each. */
export async function reportsOf({ net, claims }: NetProof): Promise<readonly ProofReport[]> {
  const compiled = compile(net);
  const reports: ProofReport[] = [];
  for (const { properties, bounds, route = 'search' } of claims)
    reports.push(await prove(compiled, { properties, bounds, route }));
  return reports;
}

/** Asks for the property that a mutant breaks. */
export async function reportOf({ net, property, bounds }: Mutant): Promise<ProofReport> {
  return prove(compile(net), { properties: [property], bounds, route: 'search' });
}
