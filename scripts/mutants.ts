/** Plants every mutant in a copy of the tree and says which test files caught it. Exit code 1 when one did not. */
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isCaught, MutantRunner } from '../test/mutants/mutant-runner.ts';
import { mutants } from '../test/mutants/mutants.ts';
import { proverMutants } from '../test/mutants/prover-mutants.ts';

await using runner = await MutantRunner.open(join(import.meta.dirname, '..'));
for (const mutant of [...mutants, ...proverMutants]) {
  console.log(mutant.name);
  for (const file of mutant.tests) {
    const startedAt = performance.now();
    const outcome = await runner.runMutant(mutant, [file]);
    const caught = isCaught(outcome);
    if (!caught) process.exitCode = 1;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const { failed, passed } = outcome;
    const verdict = caught ? `${failed} of ${failed + passed} tests fail` : 'NOT CAUGHT';
    console.log(`  ${caught ? '✔' : '✖'} ${file.padEnd(40)} ${verdict}, ${seconds} s`);
  }
}
