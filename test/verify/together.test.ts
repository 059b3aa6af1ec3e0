import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlockFree, placeBound, unreachable } from '../../src/verify/index.ts';
import { prove } from '../../src/verify/prove.ts';
import { naiveVerdict } from './naive-search.ts';
import { randomNet } from './random-net.ts';

const NETS = 12;
const MOST_STATES = 300;

test('properties that share a search get the verdicts of an independent search of each one', async () => {
  let nets = 0;
  let sharedMarkings = 0;
  let decided = 0;
  let unknown = 0;
  for (let seed = 1; nets < NETS; seed++) {
    const generated = randomNet(seed);
    if (generated === undefined) continue;
    const { net, bounds } = generated;
    const places = [...net.places.values()].filter(({ kind }) => kind === 'tokens');
    const properties = [
      deadlockFree([]),
      ...places.flatMap(({ name }) => [
        placeBound(name, 0),
        unreachable(name),
        placeBound(name, 1),
        unreachable({ [name]: 2 }),
      ]),
    ];
    const naive = properties.map(
      (property) => naiveVerdict(net, property, bounds, MOST_STATES).verdict,
    );
    if (naive.includes('too many states')) continue;
    nets++;
    const report = await prove(net, {
      properties,
      bounds: { ...bounds, states: 2_000 },
      route: 'search',
    });
    report.results.forEach(({ verdict, trace }, index) => {
      // The naive search does not know the limit of a settling, after which the executor refuses firings.
      if (trace?.circleTo !== undefined) return;
      if (verdict === 'unknown') {
        unknown++;
        return;
      }
      decided++;
      const expected = naive[index] === 'broken' ? 'refuted' : 'proved';
      assert.equal(verdict, expected, `seed ${seed}: ${properties[index]?.name}`);
    });
    sharedMarkings += naive.filter((verdict) => verdict === 'broken').length > 2 ? 1 : 0;
  }
  assert.ok(unknown <= decided / 10, `${unknown} unknown, ${decided} decided`);
  assert.ok(sharedMarkings > NETS / 2, `${sharedMarkings} nets with several refutations`);
});
