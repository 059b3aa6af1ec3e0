/** The list of what is proved, as Markdown. */
import type { ProofReport } from '../../src/verify/index.ts';
import type { NetProof } from './net-proof.ts';

/** A proof that was made: a report for each claim, one for each mutant. */
export interface Proved {
  readonly proof: NetProof;
  readonly reports: readonly ProofReport[];
  readonly refuted: readonly ProofReport[];
  /** What the machine worked on it, milliseconds: a busy one does not work longer. */
  readonly provedMs: number;
  readonly refutedMs: number;
}

const BEGIN = '<!-- proofs: npm run proofs -- --write -->';
const END = '<!-- end of proofs -->';

/** One line a net, and the whole time. */
export function tableText(proved: readonly Proved[]): string {
  const rows = proved.map(({ proof, reports, provedMs, refutedMs }) => [
    ...toFacts(proof),
    Math.max(...reports.flatMap(({ results }) => results.map(({ states }) => states))),
    provedMs,
    refutedMs,
  ]);
  const whole = proved.reduce((sum, { provedMs, refutedMs }) => sum + provedMs + refutedMs, 0);
  return [
    '| net | properties | mutants refuted | states | proved in ms | refuted in ms |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
    '',
    `All of it: ${(whole / 1000).toFixed(1)} s of one processor.`,
  ].join('\n');
}

/** What exactly is claimed of each net, for how many of what, and which faults are found out. */
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

/** The text with what stands between its marks replaced. @throws RangeError when it has no marks */
export function betweenMarks(text: string, list: string): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new RangeError(`no "${BEGIN}" and "${END}" in it`);
  return `${text.slice(0, from + BEGIN.length)}\n\n${list}\n\n${text.slice(to)}`;
}

/** What of a row no machine changes. */
export function toFacts({ name, claims, mutants }: NetProof): readonly [string, number, number] {
  return [name, claims.flatMap(({ properties }) => properties).length, mutants.length];
}

function cell(value: string | number): string {
  if (typeof value === 'string') return value;
  return value === 0
    ? ''
    : value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}
