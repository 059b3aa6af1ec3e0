/**
 * Proves every shipped net, refutes its mutants, and prints the list with its times. With `--write` the list goes to the
 * README, and what exactly was proved, for how many, to docs/proofs.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatReport, isProved } from '../src/verify/index.ts';
import { allProofs } from '../test/proofs/all-proofs.ts';
import { betweenMarks, claimsText, tableText } from '../test/proofs/list.ts';
import type { Proved } from '../test/proofs/list.ts';
import { reportOf, reportOfMutant } from '../test/proofs/net-proof.ts';

const root = join(import.meta.dirname, '..');
const proved: Proved[] = [];
for (const proof of allProofs) {
  const reports = [];
  for (const claim of proof.claims) reports.push(await reportOf(proof.net, claim));
  const refuted = [];
  for (const mutant of proof.mutants) refuted.push(await reportOfMutant(mutant));
  for (const report of reports.filter((one) => !isProved(one))) fail(formatReport(report));
  for (const report of refuted)
    if (report.results.some(({ verdict }) => verdict !== 'refuted')) fail(formatReport(report));
  proved.push({ proof, reports, refuted });
}

console.log(tableText(proved));
if (process.argv.includes('--write')) {
  write('README.md', tableText(proved));
  write('docs/proofs.md', claimsText(proved));
  execFileSync('oxfmt', ['README.md', 'docs/proofs.md'], { cwd: root });
}

function write(file: string, list: string): void {
  const path = join(root, file);
  writeFileSync(path, betweenMarks(readFileSync(path, 'utf8'), list));
}

function fail(report: string): void {
  console.log(report);
  process.exitCode = 1;
}
