import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReport, isProved } from '../../src/verify/index.ts';
import { allProofs } from '../proofs/all-proofs.ts';
import { proveClaim } from '../proofs/net-proof.ts';

for (const { name, net, claims } of allProofs) {
  for (const claim of claims.filter(({ quick }) => quick !== undefined)) {
    test(`${name}: ${claim.properties[0]?.name ?? 'nothing'}, with the bounds of its claim`, async () => {
      const report = await proveClaim(net, claim);
      assert.ok(isProved(report), formatReport(report));
    });
  }
}

test('the smaller proofs of the claims refute the mutants, apart from one that needs two requests', async () => {
  const missed: string[] = [];
  for (const { name, claims, mutants } of allProofs) {
    for (const { that, net, property } of mutants) {
      const about = claims.filter(({ properties }) =>
        properties.some((one) => one.name === property.name),
      );
      if (about.every(({ quick }) => quick === undefined)) continue;
      const verdicts: (string | undefined)[] = [];
      for (const form of about.flatMap((claim) => claim.quick ?? [claim])) {
        const { results } = await proveClaim(net, { ...form, properties: [property] });
        verdicts.push(results[0]?.verdict);
      }
      if (!verdicts.includes('refuted')) missed.push(`${name} ${that}`);
    }
  }
  assert.deepEqual(missed, [
    'live duplex: VAD, barge-in, replies, silence recovery asks for a second reply while it awaits the first',
  ]);
});
