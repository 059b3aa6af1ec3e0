import type { CompiledNet } from '../../src/net/index.ts';
import { prove } from '../../src/verify/index.ts';
import type { Reductions } from '../../src/verify/reduction/reductions.ts';
import { naiveVerdict } from './naive-search.ts';
import { randomLabeledNet } from './random-labels.ts';

/** What a comparison of the prover with the independent search found. */
export interface LabelTally {
  readonly disagreements: readonly string[];
  readonly proved: number;
  readonly refuted: number;
  readonly unknown: number;
}

/** Compares the verdicts of both searches on random nets with labels. `mutate` changes the net that the prover gets. */
export async function compareLabels({
  nets,
  firstSeed,
  lastSeed = Number.POSITIVE_INFINITY,
  mostNaiveStates,
  mutate = (one) => one,
  reductions = {},
}: {
  readonly nets: number;
  readonly firstSeed: number;
  readonly lastSeed?: number;
  readonly mostNaiveStates: number;
  readonly mutate?: (net: CompiledNet) => CompiledNet;
  readonly reductions?: Reductions;
}): Promise<LabelTally> {
  const disagreements: string[] = [];
  const counts = { proved: 0, refuted: 0, unknown: 0 };
  let compared = 0;
  for (let seed = firstSeed; compared < nets && seed <= lastSeed; seed++) {
    const random = randomLabeledNet(seed);
    if (random === undefined) continue;
    const { net, bounds, property } = random;
    const naive = naiveVerdict(net, property, bounds, mostNaiveStates);
    if (naive.verdict === 'too many states') continue;
    compared++;
    const { results } = await prove(mutate(net), {
      properties: [property],
      bounds,
      route: 'search',
      reductions,
    });
    const verdict = results[0]?.verdict ?? 'unknown';
    counts[verdict]++;
    const expected = naive.verdict === 'holds' ? 'proved' : 'refuted';
    if (verdict !== 'unknown' && verdict !== expected)
      disagreements.push(`seed ${seed}: ${property.name}: ${verdict}, not ${expected}`);
  }
  return { disagreements, ...counts };
}

const off: { readonly [K in keyof Reductions]-?: K extends 'after' ? 0 : false } = {
  after: 0,
  arcs: false,
  smallerBounds: false,
  slicing: false,
  anyOrder: false,
};

/** Which reductions to compare: none, each alone, and all. */
export const reductionCases: Readonly<Record<string, Reductions>> = {
  'no reduction': off,
  'the arcs': { ...off, arcs: true },
  'smaller bounds': { ...off, smallerBounds: true },
  slices: { ...off, slicing: true },
  'any order': { ...off, anyOrder: true },
  'all reductions': { after: 0 },
};
