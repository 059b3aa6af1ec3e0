import { formatReport, isProved, traceToSvg } from '../../verify/index.ts';
import type { ProofReport, Property } from '../../verify/index.ts';
import type { Paint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';

/** The first counterexample as SVG; undefined if there is none. */
export function drawFirstRefutation({ results }: ProofReport): string | undefined {
  const refuted = results.find(({ trace }) => trace !== undefined);
  if (refuted?.trace === undefined) return undefined;
  return traceToSvg(refuted.trace, `${refuted.property.name}: refuted`);
}

/** A report for a person, followed by the broken rules. */
export function reportText(report: ProofReport, broken: readonly string[], paint: Paint): string {
  const rules =
    broken.length === 0
      ? ['✔ rules of an agent: kept (by its arcs)']
      : ['✖ rules of an agent: broken (by its arcs)', ...broken.map((problem) => `  ${problem}`)];
  const lines = printable([formatReport(report), ...rules].join('\n')).split('\n');
  return `${lines.map((line) => paintReportLine(line, paint)).join('\n')}\n`;
}

function paintReportLine(line: string, paint: Paint): string {
  if (line.startsWith('✔')) return paint('green', line);
  if (line.startsWith('✖')) return paint('red', line);
  return line.startsWith('?') ? paint('yellow', line) : line;
}

/** A report for a program: one JSON object per line. */
export function reportJson(
  agent: string,
  { results, ...facts }: ProofReport,
  broken: readonly string[],
): string {
  const lines = [
    ...results.map(({ property, ...result }) => ({
      type: 'property',
      ...toPropertyJson(property),
      ...result,
    })),
    { type: 'rules', kept: broken.length === 0, problems: broken },
    {
      type: 'report',
      agent,
      proved: isProved({ results, ...facts }) && broken.length === 0,
      ...facts,
    },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function toPropertyJson({ name, kind }: Property): {
  readonly name: string;
  readonly kind: string;
} {
  return { name, kind };
}
