/** The prover against the naive search, net after net. */
import { prove } from '../../src/verify/prove.ts';
import { formatReport } from '../../src/verify/report.ts';
import type { PropertyResult } from '../../src/verify/report.ts';
import { naiveVerdict } from './naive-search.ts';
import { randomNet } from './random-net.ts';
import type { Feature, RandomNet } from './random-net.ts';

export interface Tally {
  nets: number;
  proved: number;
  refuted: number;
  unknown: number;
  /** Seeds whose net did not build, was too large for the naive search, or too small to say anything. */
  skipped: number;
  readonly withFeature: Map<Feature, number>;
  /** What decided them. */
  readonly by: Map<string, number>;
  readonly disagreements: string[];
}

const MOST_NAIVE_STATES = 2_000;
const LIMITS = { states: 50_000, searchTimeoutMs: 3_000 };
/** A net that holds and has fewer says little. */
const FEWEST_STATES = 10;

/** Compares as many nets as asked, from this seed on. */
export async function compare(nets: number, firstSeed: number): Promise<Tally> {
  const tally: Tally = {
    nets: 0,
    proved: 0,
    refuted: 0,
    unknown: 0,
    skipped: 0,
    withFeature: new Map(),
    by: new Map(),
    disagreements: [],
  };
  for (let seed = firstSeed; tally.nets < nets; seed++) {
    const made = randomNet(seed);
    const naive = made && naiveVerdict(made.net, made.property, made.bounds, MOST_NAIVE_STATES);
    if (
      made === undefined ||
      naive === undefined ||
      naive.verdict === 'too many states' ||
      (naive.verdict === 'holds' && naive.states < FEWEST_STATES)
    ) {
      tally.skipped++;
      continue;
    }
    const report = await prove(made.net, {
      properties: [made.property],
      bounds: { ...made.bounds, ...LIMITS },
    });
    const [result] = report.results;
    if (result === undefined) throw new Error(`seed ${seed}: no result`);
    count(tally, made, result);
    const expected = naive.verdict === 'holds' ? 'proved' : 'refuted';
    if (result.verdict !== 'unknown' && result.verdict !== expected)
      tally.disagreements.push(
        `seed ${seed}: naive says ${naive.verdict}\n${formatReport(report)}`,
      );
    if (result.reason?.includes('replay') === true)
      tally.disagreements.push(`seed ${seed}: ${result.reason}`);
  }
  return tally;
}

function count(tally: Tally, { features }: RandomNet, { verdict, by }: PropertyResult): void {
  tally.nets++;
  tally[verdict]++;
  tally.by.set(by, (tally.by.get(by) ?? 0) + 1);
  for (const feature of features)
    tally.withFeature.set(feature, (tally.withFeature.get(feature) ?? 0) + 1);
}
