/** What contracts decide about the properties of random nets, beside the naive search. */
import type { CompiledNet } from '../../src/net/build/compile.ts';
import type { Bounds } from '../../src/verify/properties/bounds.ts';
import type { SearchedProperty } from '../../src/verify/properties/property.ts';
import { naiveVerdict } from './naive-search.ts';
import type { NaiveBounds } from './naive-search.ts';

export interface ContractTally {
  nets: number;
  proved: number;
  /** Properties that do not follow, and that the naive search refutes. */
  refuted: number;
  /** Properties that do not follow, and that the naive search does not refute. */
  open: number;
  /** Properties that follow although the naive search refutes them. */
  readonly unsound: string[];
}

/** Counts a property that follows from the contracts of a net, or does not, after the naive search of the net. */
export function countProperty(
  tally: ContractTally,
  {
    seed,
    net,
    bounds,
  }: { readonly seed: number; readonly net: CompiledNet; readonly bounds: Bounds & NaiveBounds },
  property: SearchedProperty,
  { holds, mostNaiveStates }: { readonly holds: boolean; readonly mostNaiveStates: number },
): void {
  const { verdict } = naiveVerdict(net, property, bounds, mostNaiveStates);
  if (holds) tally.proved++;
  if (verdict === 'broken' && holds) tally.unsound.push(`seed ${seed}: ${property.name}`);
  else if (verdict === 'broken') tally.refuted++;
  else if (!holds) tally.open++;
}
