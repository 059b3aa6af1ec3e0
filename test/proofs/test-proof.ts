import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatReport, formatTrace, isProved } from '../../src/verify/index.ts';
import { reportOf, reportsOf } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

/** Every claim is proved, and says for how many; every mutant is refuted with a trace that ran on the executor. */
export function testProof(proof: NetProof): void {
  describe(proof.name, () => {
    it('is proved', async (t) => {
      for (const report of await reportsOf(proof)) {
        assert.ok(isProved(report), formatReport(report));
        for (const { property, over } of report.results)
          t.diagnostic(`${property.name}, for ${over.join(', ')}`);
      }
    });

    for (const mutant of proof.mutants) {
      it(`is refuted when it ${mutant.that}`, async () => {
        const report = await reportOf(mutant);
        const [result] = report.results;
        assert.equal(result?.verdict, 'refuted', formatReport(report));
        assert.ok(result.trace !== undefined && result.trace.steps.length > 0);
        if (mutant.shows !== undefined) assert.match(formatTrace(result.trace), mutant.shows);
      });
    }
  });
}
