/**
 * Compares a search without reductions, with each of them, and with all, with the naive search on random nets. To compare other
 * nets: `npx node test/long/reductions.test.ts COUNT SEED`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reductions } from '../../src/verify/reduction/reductions.ts';
import { compare } from '../verify/differential.ts';

const [COUNT = 10_000, SEED = 1_000_001] = process.argv
  .slice(2, 4)
  .flatMap((text) => (Number.isInteger(Number(text)) ? [Number(text)] : []));

type Switch = Exclude<keyof Reductions, 'after'>;
const off: { readonly [K in Switch]-?: false } = {
  smallerBounds: false,
  slicing: false,
  anyOrder: false,
};
const alone = Object.keys(off).map((name): readonly [string, Reductions] => [
  name,
  { after: 0, ...off, [name]: true },
]);
const cases: readonly (readonly [string, Reductions])[] = [
  ['no reduction', off],
  ...alone,
  ['all reductions', { after: 0 }],
];

for (const [name, reductions] of cases)
  test(`on ${COUNT} random nets the prover with ${name} and an independent search never disagree`, async (t) => {
    const tally = await compare({
      nets: COUNT,
      firstSeed: SEED,
      mostNaiveStates: 1_000,
      options: { route: 'search', reductions },
    });
    const { nets, proved, refuted, unknown, skipped, by, disagreements } = tally;
    t.diagnostic(
      JSON.stringify({ nets, proved, refuted, unknown, skipped, ...Object.fromEntries(by) }),
    );
    assert.deepEqual(disagreements, []);
  });
