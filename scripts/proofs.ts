/**
 * Proves every shipped net, refutes its mutants, and prints a table with times. With `--write` the table goes to
 * docs/conformance/proof-results.md, and the list of properties, with the token counts they hold for, to docs/conformance/proofs.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatReport, isProved } from '../src/verify/index.ts';
import type { ProofReport } from '../src/verify/index.ts';
import { allProofs } from '../test/proofs/all-proofs.ts';
import { betweenMarks, claimsText, tableText } from '../test/proofs/proof-table.ts';
import type { Proved } from '../test/proofs/proof-table.ts';
import { proveClaim, proveMutant } from '../test/proofs/net-proof.ts';

const root = join(import.meta.dirname, '..');
const proved: Proved[] = [];
for (const proof of allProofs) {
  const made = await worked(proof.claims, async (claim) => proveClaim(proof.net, claim));
  const broken = await worked(proof.mutants, proveMutant);
  for (const report of made.reports.filter((one) => !isProved(one))) fail(formatReport(report));
  for (const report of broken.reports)
    if (report.results.some(({ verdict }) => verdict !== 'refuted')) fail(formatReport(report));
  proved.push({
    proof,
    reports: made.reports,
    refuted: broken.reports,
    provedMs: made.ms,
    refutedMs: broken.ms,
  });
}

console.log(tableText(proved));
if (process.argv.includes('--write')) {
  write('docs/conformance/proof-results.md', tableText(proved));
  write('docs/conformance/proofs.md', claimsText(proved));
  execFileSync('oxfmt', ['docs/conformance/proof-results.md', 'docs/conformance/proofs.md'], {
    cwd: root,
  });
}

/** The reports, and how long this process worked on them; a solver, which is another, is timed by the clock. */
async function worked<T>(
  of: readonly T[],
  report: (one: T) => Promise<ProofReport>,
): Promise<{ readonly reports: readonly ProofReport[]; readonly ms: number }> {
  const reports: ProofReport[] = [];
  let ms = 0;
  for (const one of of) {
    const before = process.cpuUsage();
    const made = await report(one);
    reports.push(made);
    const { user, system } = process.cpuUsage(before);
    const isSearched = made.results.every(({ by }) => by.startsWith('search'));
    ms += isSearched ? (user + system) / 1000 : made.durationMs;
  }
  return { reports, ms };
}

function write(file: string, list: string): void {
  const path = join(root, file);
  writeFileSync(path, betweenMarks(readFileSync(path, 'utf8'), list));
}

function fail(report: string): void {
  console.log(report);
  process.exitCode = 1;
}
