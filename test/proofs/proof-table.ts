/** Writes the list of proofs as Markdown. */
import type { ProofReport } from '../../src/verify/index.ts';
import type { NetProof } from './net-proof.ts';

/** A proof with its results: a report for each claim and each mutant. */
export interface Proved {
  readonly proof: NetProof;
  readonly reports: readonly ProofReport[];
  readonly refuted: readonly ProofReport[];
  /** The CPU time, in milliseconds. It does not depend on the load of the machine. */
  readonly provedMs: number;
  readonly refutedMs: number;
}

const BEGIN = '<!-- proofs: npm run proofs -- --write -->';
const END = '<!-- end of proofs -->';

/** One line for each net, and the total time. */
export function tableText(proved: readonly Proved[]): string {
  const rows = proved.map(({ proof, reports, provedMs, refutedMs }) => [
    ...toFacts(proof),
    Math.max(...reports.flatMap(({ results }) => results.map(({ states }) => states))),
    provedMs,
    refutedMs,
  ]);
  const totalMs = proved.reduce((sum, { provedMs, refutedMs }) => sum + provedMs + refutedMs, 0);
  return [
    '| net | properties | mutants refuted | states | proved in ms | refuted in ms |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
    '',
    `All of it: ${(totalMs / 1000).toFixed(1)} s of one processor.`,
  ].join('\n');
}

/** The claims about each net with their bounds, and the mutants that are found. */
export function claimsText(proved: readonly Proved[]): string {
  return proved
    .map(({ proof, reports }) =>
      [
        `### ${proof.name}`,
        '',
        ...reports.map(({ results }) => {
          const names = results.map(({ property }) => `  - ${property.name}`);
          const over = [...new Set(results.flatMap((result) => result.over))].join(', ');
          const by = [...new Set(results.map((result) => result.by))].join(', ');
          return [`- For ${over || 'any number of tokens'} (${by}):`, ...names].join('\n');
        }),
        `- Refuted when it ${proof.mutants.map(({ that }) => that).join('; when it ')}.`,
      ].join('\n'),
    )
    .join('\n\n');
}

/** Replaces the text between two marks. @throws RangeError if the marks are missing */
export function betweenMarks(text: string, list: string): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new RangeError(`no "${BEGIN}" and "${END}" in it`);
  return `${text.slice(0, from + BEGIN.length)}\n\n${list}\n\n${text.slice(to)}`;
}

/** The columns of a row that do not depend on the machine. */
export function toFacts({ name, claims, mutants }: NetProof): readonly [string, number, number] {
  return [name, claims.flatMap(({ properties }) => properties).length, mutants.length];
}

function cell(value: string | number): string {
  if (typeof value === 'string') return value;
  return value === 0
    ? ''
    : value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}
