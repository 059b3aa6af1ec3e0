import { relativeMiss, getFigureStatus } from './figure.ts';
import type { Figure } from './figure.ts';

/** The figures as a Markdown table, columns aligned. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = [
    ['', 'measured', 'limit', ''],
    ...figures.map((figure) => [
      figure.what,
      `${numeral(figure.value)} ${figure.unit}`,
      formatLimit(figure),
      formatStatus(figure),
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 1 ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  const [head = [], ...body] = rows;
  return [line(head), line(rule), ...body.map(line)].join('\n');
}

function pad(cell: string, width: number, column: number): string {
  return column === 1 ? cell.padStart(width) : cell.padEnd(width);
}

function formatLimit({ atLeast, atMost, limitSource }: Figure): string {
  if (atLeast === undefined && atMost === undefined) return '';
  const limit = atLeast === undefined ? `<= ${numeral(atMost ?? 0)}` : `>= ${numeral(atLeast)}`;
  return limitSource === undefined ? limit : `${limit} (${limitSource})`;
}

function formatStatus(figure: Figure): string {
  const status = getFigureStatus(figure);
  if (status === 'no limit') return '';
  return status === 'met' ? 'met' : `missed by ${Math.round(100 * relativeMiss(figure))} %`;
}

/** Three figures, and thousands apart. */
function numeral(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number.isInteger(value)
    ? value.toLocaleString('en')
    : value.toLocaleString('en', { maximumFractionDigits: digits });
}
