/** Compares the prover with the naive search on random nets. */
import type { CompiledNet } from '../../src/net/build/compile.ts';
import type { Ordering } from '../../src/verify/system/binding-choices.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { prove } from '../../src/verify/prove.ts';
import type { ProveOptions } from '../../src/verify/prove.ts';
import { formatReport } from '../../src/verify/report.ts';
import type { PropertyResult } from '../../src/verify/report.ts';
import { reachableMarkings } from '../../src/verify/search/search.ts';
import { TransitionSystem } from '../../src/verify/system/transition-system.ts';
import { naiveMarkings, naiveVerdict } from './naive-search.ts';
import type { NaiveVerdict } from './naive-search.ts';
import { randomNet } from './random-net.ts';
import type { Feature, RandomNet, Size } from './random-net.ts';

export interface Tally {
  nets: number;
  proved: number;
  refuted: number;
  unknown: number;
  /** The number of seeds whose net did not build, was too large for the naive search, or was too small. */
  skipped: number;
  readonly withFeature: Map<Feature, number>;
  /** The methods that decided the properties. */
  readonly by: Map<string, number>;
  /** The reasons why a property was not decided. */
  readonly reasons: Map<string, number>;
  readonly disagreements: string[];
}

export interface Comparison {
  readonly nets: number;
  readonly firstSeed: number;
  /** Ends the comparison. Default: the number of nets ends it. */
  readonly lastSeed?: number;
  /** Default: `small`. */
  readonly size?: Size;
  /** Nets with more states are skipped. */
  readonly mostNaiveStates?: number;
  readonly options?: Partial<ProveOptions>;
  /** Changes the net for the prover only. */
  readonly mutate?: (net: CompiledNet) => CompiledNet;
  /** The number of concurrent queries. */
  readonly atOnce?: number;
  /** True to stop at the first difference. */
  readonly untilOne?: boolean;
}

/** Nets with fewer states are skipped if all properties hold. */
const FEWEST_STATES = 10;
/** Limits only states, not time, so that results do not depend on the machine. */
const LIMITS = { states: 20_000 };

/** Compares a number of nets, from this seed on. */
export async function compare(comparison: Comparison): Promise<Tally> {
  const { nets, firstSeed, mostNaiveStates = 2_000, atOnce = 1, size } = comparison;
  const { lastSeed = Number.POSITIVE_INFINITY } = comparison;
  const tally: Tally = {
    nets: 0,
    proved: 0,
    refuted: 0,
    unknown: 0,
    skipped: 0,
    withFeature: new Map(),
    by: new Map(),
    reasons: new Map(),
    disagreements: [],
  };
  let seed = firstSeed;
  const next = (): readonly [number, RandomNet, NaiveVerdict] | undefined => {
    for (; seed <= lastSeed; tally.skipped++) {
      const generated = randomNet(seed++, size);
      if (generated === undefined) continue;
      const { verdict, states } = naiveVerdict(
        generated.net,
        generated.property,
        generated.bounds,
        mostNaiveStates,
      );
      if (verdict === 'too many states') continue;
      if (verdict === 'broken' || states >= FEWEST_STATES) return [seed - 1, generated, verdict];
    }
    return undefined;
  };
  const work = async (): Promise<void> => {
    while (tally.nets < nets) {
      const found = next();
      if (found === undefined) return;
      const [at, generated, verdict] = found;
      tally.nets++;
      await compareVerdicts(comparison, tally, at, generated, verdict);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return tally;
}

/** Returns, by seed, how the markings of the prover and of the naive search differ; empty if they are equal. */
export function compareMarkings({
  nets,
  firstSeed,
  mostNaiveStates = 1_000,
  mutate: distort = (net) => net,
  untilOne = false,
}: Comparison): readonly string[] {
  const differences: string[] = [];
  let compared = 0;
  for (let seed = firstSeed; compared < nets; seed++) {
    if (untilOne && differences.length > 0) break;
    const generated = randomNet(seed);
    const naive = generated && naiveMarkings(generated.net, generated.bounds, mostNaiveStates);
    if (generated === undefined || naive === undefined || naive.size < FEWEST_STATES) continue;
    compared++;
    const net = distort(generated.net);
    // The ordered search must find exactly the reachable markings. The unordered one may find more, but not fewer.
    const ordered = listMarkings(net, generated.bounds, 'ordered');
    const unordered = listMarkings(net, generated.bounds, 'unordered');
    if (ordered === undefined) differences.push(`seed ${seed}: too many states for the prover`);
    else {
      const differs = [...missingIn(ordered, naive), ...missingIn(naive, ordered)];
      if (differs.length > 0) differences.push(`seed ${seed}: ${differs.join('; ')}`);
    }
    if (unordered !== undefined && missingIn(unordered, naive).length > 0)
      differences.push(`seed ${seed}: the unordered search misses a marking`);
  }
  return differences;
}

function missingIn(some: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] {
  return [...others].filter((one) => !some.has(one));
}

function listMarkings(
  net: CompiledNet,
  bounds: RandomNet['bounds'],
  ordering: Ordering,
): ReadonlySet<string> | undefined {
  const steps = new TransitionSystem(expand(net, bounds), ordering);
  const markings = reachableMarkings(steps, LIMITS);
  if (markings === undefined) return undefined;
  const toName = (letter: string): string =>
    steps.net.places[steps.tokenClasses.get(letter.charCodeAt(0)).place]?.name ?? '';
  return new Set([...markings].map((marking) => Array.from(marking, toName).toSorted().join(' ')));
}

async function compareVerdicts(
  { options = {}, mutate: distort = (net) => net }: Comparison,
  tally: Tally,
  seed: number,
  generated: RandomNet,
  naive: NaiveVerdict,
): Promise<void> {
  const report = await prove(distort(generated.net), {
    properties: [generated.property],
    bounds: { ...generated.bounds, ...LIMITS },
    ...options,
  });
  const [result] = report.results;
  if (result === undefined) throw new Error(`seed ${seed}: no result`);
  count(tally, generated, result);
  // The naive search does not know the limit of a settling, after which the executor refuses firings.
  if (result.trace?.circleTo !== undefined) return;
  const expected = naive === 'holds' ? 'proved' : 'refuted';
  if (result.verdict !== 'unknown' && result.verdict !== expected)
    tally.disagreements.push(
      `seed ${seed}: the naive search says it ${naive}\n${formatReport(report)}`,
    );
  if (result.reason?.includes('replay') === true)
    tally.disagreements.push(`seed ${seed}: ${result.reason}`);
}

function count(
  tally: Tally,
  { features }: RandomNet,
  { verdict, by, reason }: PropertyResult,
): void {
  tally[verdict]++;
  const more = <K>(map: Map<K, number>, key: K): void => void map.set(key, (map.get(key) ?? 0) + 1);
  more(tally.by, by);
  if (reason !== undefined) more(tally.reasons, reason);
  for (const feature of features) more(tally.withFeature, feature);
}
