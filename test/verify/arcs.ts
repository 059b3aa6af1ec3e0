/** Compares what the arcs of random nets decide alone with the naive search. */
import type { CompiledNet } from '../../src/net/index.ts';
import { precedes } from '../../src/verify/index.ts';
import { isOrderedByArcs } from '../../src/verify/reduction/ordered-by-arcs.ts';
import { listKnownLabels } from '../../src/verify/system/labels.ts';
import { naiveVerdict } from './naive-search.ts';
import { randomLabeledNet } from './random-labels.ts';
import { randomNet } from './random-net.ts';
import type { RandomNet } from './random-net.ts';

/** What a comparison found. */
export interface ArcsTally {
  nets: number;
  /** Orders that the arcs show, and that the naive search confirms. */
  confirmed: number;
  /** Of these, orders of firings with a label. */
  labeled: number;
  readonly unsound: string[];
}

/** Compares the nets of these seeds, each once without and once with labels. */
export function compareArcs(firstSeed: number, seeds: number, mostStates: number): ArcsTally {
  const tally: ArcsTally = { nets: 0, confirmed: 0, labeled: 0, unsound: [] };
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    for (const random of [randomNet(seed), randomLabeledNet(seed)]) {
      if (random === undefined) continue;
      tally.nets++;
      compareNet(tally, seed, random.net, random.bounds, mostStates);
    }
  }
  return tally;
}

function compareNet(
  tally: ArcsTally,
  seed: number,
  net: CompiledNet,
  bounds: RandomNet['bounds'],
  mostStates: number,
): void {
  const names = net.transitions.map(({ name }) => name);
  const suffixes = ['', ...listKnownLabels(net).map((label) => `(${label})`)];
  for (const suffix of suffixes)
    for (const first of names)
      for (const second of names) {
        const property = precedes(`${first}${suffix}`, `${second}${suffix}`, { each: true });
        if (!isOrderedByArcs(net, property, bounds)) continue;
        const { verdict } = naiveVerdict(net, property, bounds, mostStates);
        if (verdict === 'holds') {
          tally.confirmed++;
          if (suffix !== '') tally.labeled++;
        }
        if (verdict === 'broken') tally.unsound.push(`seed ${seed}: ${property.name}`);
      }
}
