import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isCaught, MutantRunner } from '../mutants/mutant-runner.ts';
import { mutants } from '../mutants/mutants.ts';
import { proverMutants } from '../mutants/prover-mutants.ts';

test('every mutant is detected by each of its test files', async (t) => {
  await using runner = await MutantRunner.open(join(import.meta.dirname, '../..'));
  for (const mutant of [...mutants, ...proverMutants]) {
    for (const file of mutant.tests) {
      await t.test(`${mutant.name}: ${file}`, async () => {
        const outcome = await runner.runMutant(mutant, [file]);
        assert.ok(isCaught(outcome), outcome.output);
      });
    }
  }
});
