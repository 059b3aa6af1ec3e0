/** Compares the search for livelocks with the naive search, and with runs of the executor, on random nets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prove } from '../../src/verify/prove.ts';
import { settles } from '../../src/verify/properties/create-property.ts';
import { naiveVerdict } from './naive-search.ts';
import { randomNet } from './random-net.ts';

const NETS = 60;

test('a livelock is found exactly where the naive search finds one, on random nets', async (t) => {
  const tally: Record<string, number> = {};
  const property = settles();
  let compared = 0;
  for (let seed = 1; compared < NETS; seed++) {
    const generated = randomNet(seed);
    if (generated === undefined) continue;
    const { net, bounds } = generated;
    const naive = naiveVerdict(net, property, bounds, 1_000);
    if (naive.verdict === 'too many states') continue;
    const { results } = await prove(net, {
      properties: [property],
      bounds: { ...bounds, states: 20_000 },
      route: 'search',
    });
    const [result] = results;
    const key = `${naive.verdict}: ${result?.verdict ?? ''}, ${result?.by ?? ''}`;
    tally[key] = (tally[key] ?? 0) + 1;
    compared++;
    const expected = naive.verdict === 'holds' ? 'proved' : 'refuted';
    assert.equal(result?.verdict, expected, `seed ${seed}: ${result?.reason ?? ''}`);
  }
  t.diagnostic(JSON.stringify(tally));
  assert.ok((tally['holds: proved, search for livelocks'] ?? 0) > 0);
  assert.ok((tally['broken: refuted, search for livelocks'] ?? 0) > 0);
});
