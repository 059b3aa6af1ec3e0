/** A measured figure beside its bar. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** Where a bar that is not a fixed number comes from. */
  readonly barIs?: string;
  /** Holds on any machine: missing it is a fault, where missing a speed is a pity. */
  readonly required: boolean;
}

export type FigureStatus = 'met' | 'missed' | 'no bar';

export function getFigureStatus({ value, atLeast, atMost }: Figure): FigureStatus {
  if (atLeast === undefined && atMost === undefined) return 'no bar';
  const met = value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
  return met ? 'met' : 'missed';
}

/** How far the figure is from its bar, as a part of the bar; 0 when it is met. */
export function relativeMiss(figure: Figure): number {
  if (getFigureStatus(figure) !== 'missed') return 0;
  const bar = figure.atLeast ?? figure.atMost ?? 0;
  return bar === 0 ? Infinity : Math.abs(figure.value - bar) / bar;
}
