import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatReport, formatTrace, isProved } from '../../src/verify/index.ts';
import { proveClaim, proveMutant } from './net-proof.ts';
import type { Claim, NetProof } from './net-proof.ts';

/**
 * Tests that every claim is proved, and that every mutant is refuted with a trace that the
 * executor reproduced.
 */
export function testProof({ name, net, claims, mutants }: NetProof): void {
  describe(name, () => {
    for (const claim of claims) {
      it(`is proved: ${formatTitle(claim)}`, async (t) => {
        for (const form of claim.quick ?? [claim]) {
          const report = await proveClaim(net, { properties: claim.properties, ...form });
          assert.ok(isProved(report), formatReport(report));
          for (const { property, over } of report.results)
            t.diagnostic(`${property.name}, for ${over.join(', ')}`);
        }
      });
    }

    for (const mutant of mutants) {
      it(`is refuted when it ${mutant.that}`, async () => {
        const report = await proveMutant(mutant);
        const [result] = report.results;
        assert.equal(result?.verdict, 'refuted', formatReport(report));
        const { property, reason, trace } = result;
        // That nothing fires a transition is shown by no run.
        if (property.kind === 'canFire') assert.match(reason ?? '', /^never fires: /);
        else assert.ok(trace !== undefined && trace.steps.length > 0);
        if (mutant.shows !== undefined)
          assert.match(trace === undefined ? (reason ?? '') : formatTrace(trace), mutant.shows);
      });
    }
  });
}

/** Returns the name of the first property and the number of further ones. */
function formatTitle({ properties }: Claim): string {
  const [first, ...more] = properties.map((property) => property.name);
  return `${first ?? 'nothing'}${more.length === 0 ? '' : `, and ${more.length} more`}`;
}
