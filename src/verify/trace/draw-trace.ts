import type { Trace } from './trace.ts';

/** The room a trace is drawn in: how long a line may be before the table goes on below. */
export interface TraceDrawing {
  /** Characters in a line; 100 unless said. A longer trace goes on below. */
  readonly width?: number;
}

const DEFAULT_WIDTH = 100;
const LEAST_COLUMNS = 4;

/**
 * The markings of a trace as a table: a row for each place that ever holds something, a column for each step, numbered
 * as in `formatTrace`; 0 is where the session begins.
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

/** A place and how many tokens it holds at the beginning and after each step. */
export interface TraceRow {
  readonly place: string;
  readonly tokens: readonly number[];
}

/** The places that hold something in a trace, in the order in which they first do. */
export function toTraceRows({ markings }: Trace): readonly TraceRow[] {
  const places = new Set(markings.flatMap((marking) => Object.keys(marking)));
  return [...places].map((place) => ({
    place,
    tokens: markings.map((marking) => marking[place] ?? 0),
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
