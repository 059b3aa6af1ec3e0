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
