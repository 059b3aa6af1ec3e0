/** A measured figure beside what the console promises. */
export interface Figure {
  readonly what: string;
  readonly bar: string;
  readonly value: string;
  readonly isMet: boolean;
}

/** A figure that is met up to a limit. */
export function upTo(what: string, value: number, limit: number, unit: string): Figure {
  return {
    what,
    bar: `≤ ${limit} ${unit}`,
    value: `${round(value)} ${unit}`,
    isMet: value <= limit,
  };
}

/** A figure that nothing was promised about. */
export function noted(what: string, value: string): Figure {
  return { what, bar: 'none', value, isMet: true };
}

/** The value below which a part of the values is. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function round(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}
