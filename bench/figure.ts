/** A measured figure beside its limit. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** Where a limit comes from that is not a fixed number. */
  readonly limitSource?: string;
  /** Independent of the machine: `npm run bench` exits with 1 when it is missed. */
  readonly required: boolean;
}

export type FigureStatus = 'met' | 'missed' | 'no limit';

export function getFigureStatus({ value, atLeast, atMost }: Figure): FigureStatus {
  if (atLeast === undefined && atMost === undefined) return 'no limit';
  const met = value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
  return met ? 'met' : 'missed';
}

/** Distance of the figure from its limit, as a fraction of the limit; 0 when it is met. */
export function relativeMiss(figure: Figure): number {
  if (getFigureStatus(figure) !== 'missed') return 0;
  const limit = figure.atLeast ?? figure.atMost ?? 0;
  return limit === 0 ? Infinity : Math.abs(figure.value - limit) / limit;
}
