import { toTraceRows } from './draw-trace.ts';
import { formatStep } from './trace.ts';
import type { Trace } from './trace.ts';

const ROW = 22;
const COLUMN = 26;
const CHARACTER = 7.3;
const MARGIN = 16;
const RADIUS = 6;

/** Returns the markings of a trace as SVG text: the table of `drawTrace`, with the steps below it. */
export function traceToSvg(trace: Trace, title: string): string {
  const rows = toTraceRows(trace);
  const steps = trace.steps.map((step, index) => `${index + 1}. ${formatStep(step)}`);
  const names = MARGIN + Math.max(0, ...rows.map(({ place }) => place.length)) * CHARACTER + 12;
  const textWidth = Math.max(title.length, ...steps.map((step) => step.length)) * CHARACTER;
  const width = Math.ceil(Math.max(names + (steps.length + 1) * COLUMN, textWidth) + 2 * MARGIN);
  const top = 2 * ROW + MARGIN;
  const below = top + rows.length * ROW + ROW;
  const height = Math.ceil(below + steps.length * ROW + MARGIN);
  const columnX = (column: number): number => Math.round(names + column * COLUMN + COLUMN / 2);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, monospace" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(MARGIN, ROW, title, ' font-weight="bold"'),
    ...Array.from({ length: steps.length + 1 }, (_, index) =>
      text(columnX(index), top - 8, String(index), ' text-anchor="middle" fill="#888"'),
    ),
    ...rows.flatMap(({ place, tokens }, row) => {
      const y = top + row * ROW + ROW / 2;
      return [
        `<line x1="${names}" y1="${y}" x2="${width - MARGIN}" y2="${y}" stroke="#e5e5e5"/>`,
        text(MARGIN, y + 4, place),
        ...tokens.flatMap((count, column) => tokensAt(count, columnX(column), y)),
      ];
    }),
    ...steps.map((step, index) => text(MARGIN, below + index * ROW + ROW / 2, step)),
    '</svg>',
    '',
  ].join('\n');
}

function tokensAt(count: number, x: number, y: number): readonly string[] {
  if (count === 0) return [];
  const dot = `<circle cx="${x}" cy="${y}" r="${count === 1 ? RADIUS : RADIUS + 2}" fill="#222"/>`;
  const style = ' text-anchor="middle" fill="#fff" font-size="10"';
  return count === 1 ? [dot] : [dot, text(x, y + 4, String(count), style)];
}

function text(x: number, y: number, content: string, style = ''): string {
  return `<text x="${x}" y="${y}"${style}>${escapeXml(content)}</text>`;
}

function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
