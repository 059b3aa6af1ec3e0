import { readOwn } from '../../core/internal.ts';
import type { Trace } from './trace.ts';

/** Options of `drawTrace`. */
export interface TraceDrawing {
  /** The maximum number of characters in a line. A longer table continues in a further block. Default: 100. */
  readonly width?: number;
}

const DEFAULT_WIDTH = 100;
const LEAST_COLUMNS = 4;

/**
 * Draws the markings of a trace as a text table. It has a row for each place that ever holds a token and a column for
 * each step, numbered as in `formatTrace`. Column 0 is the initial marking.
 */
export function drawTrace(trace: Trace, { width = DEFAULT_WIDTH }: TraceDrawing = {}): string {
  const rows = toTraceRows(trace);
  const names = Math.max(0, ...rows.map(({ place }) => place.length));
  const cell =
    1 +
    Math.max(
      ...rows.flatMap(({ tokens }) => tokens).map(digitCount),
      digitCount(trace.steps.length),
    );
  const columns = Math.max(LEAST_COLUMNS, Math.floor((width - names) / cell));
  const blocks: string[] = [];
  for (let from = 0; from <= trace.steps.length; from += columns) {
    const to = Math.min(from + columns, trace.steps.length + 1);
    const numbers = Array.from({ length: to - from }, (_, index) => String(from + index));
    blocks.push(
      [
        line('', numbers, names, cell),
        ...rows.map(({ place, tokens }) =>
          line(place, tokens.slice(from, to).map(formatTokens), names, cell),
        ),
      ].join('\n'),
    );
  }
  return blocks.join('\n\n');
}

/** A place and the numbers of its tokens, initially and after each step. */
export interface TraceRow {
  readonly place: string;
  readonly tokens: readonly number[];
}

/** Returns a row for each place that holds a token in a trace, in the order of their first token. */
export function toTraceRows({ markings }: Trace): readonly TraceRow[] {
  const places = new Set(markings.flatMap((marking) => Object.keys(marking)));
  return [...places].map((place) => ({
    place,
    tokens: markings.map((marking) => readOwn(marking, place) ?? 0),
  }));
}

function line(name: string, cells: readonly string[], names: number, cell: number): string {
  return `${name.padEnd(names)}${cells.map((text) => text.padStart(cell)).join('')}`;
}

function formatTokens(tokens: number): string {
  if (tokens === 0) return '·';
  return tokens === 1 ? '●' : String(tokens);
}

function digitCount(number: number): number {
  return String(number).length;
}
