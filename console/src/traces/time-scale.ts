import type { Invocation } from './read-trace.ts';

/** Turns times of an invocation into positions from 0 to 1. */
export interface TimeScale {
  readonly position: (at: number) => number;
  /** Stretches that are drawn shorter than they were, as positions. */
  readonly breaks: readonly { readonly from: number; readonly to: number; readonly ms: number }[];
}

/** The part of the width that a stretch without work takes. */
const SHORT = 0.1;
/** A stretch without work is shortened if it is longer than this part of the work. */
const LONG = 0.3;

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly isWork: boolean;
}

/**
 * Creates the scale of an invocation. A person may answer after a day: long stretches in which nothing ran are
 * shortened, so that the rest can be seen.
 */
export function createScale({ from, to, spans }: Invocation, now: number): TimeScale {
  const end = Math.max(to ?? now, from + 1);
  const stretches = splitTime(
    spans.filter(({ kind }) => kind !== 'wait').map((span) => [span.from, span.to ?? end]),
    [from, end],
  );
  const work = stretches.reduce((sum, one) => sum + (one.isWork ? one.to - one.from : 0), 0);
  const isShortened = ({ isWork, from: start, to: stop }: Stretch): boolean =>
    !isWork && work > 0 && stop - start > work * LONG;
  const kept = stretches.reduce((sum, one) => sum + (isShortened(one) ? 0 : one.to - one.from), 0);
  const shortened = stretches.filter(isShortened).length;
  const scale = (1 - Math.min(0.6, shortened * SHORT)) / Math.max(1, kept);
  const short = shortened === 0 ? 0 : Math.min(0.6, shortened * SHORT) / shortened;
  const marks: { readonly at: number; readonly position: number }[] = [];
  const breaks: { from: number; to: number; ms: number }[] = [];
  let position = 0;
  for (const stretch of stretches) {
    marks.push({ at: stretch.from, position });
    const ms = stretch.to - stretch.from;
    const width = isShortened(stretch) ? short : ms * scale;
    if (isShortened(stretch)) breaks.push({ from: position, to: position + width, ms });
    position += width;
  }
  marks.push({ at: end, position: 1 });
  return { position: (at) => interpolate(marks, at), breaks };
}

/** Splits a time into stretches in which something runs, and stretches in which nothing does. */
function splitTime(
  runs: readonly (readonly [from: number, to: number])[],
  [from, to]: readonly [from: number, to: number],
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let at = from;
  for (const [start, stop] of runs.toSorted((a, b) => a[0] - b[0])) {
    if (start > at) stretches.push({ from: at, to: start, isWork: false });
    if (stop > at) {
      stretches.push({ from: Math.max(at, start), to: stop, isWork: true });
      at = stop;
    }
  }
  if (to > at) stretches.push({ from: at, to, isWork: false });
  return stretches;
}

function interpolate(
  marks: readonly { readonly at: number; readonly position: number }[],
  at: number,
): number {
  const next = marks.findIndex((mark) => mark.at >= at);
  const after = marks[next];
  const before = marks[next - 1];
  if (after === undefined) return 1;
  if (before === undefined) return after.position;
  const part = (at - before.at) / (after.at - before.at);
  return before.position + part * (after.position - before.position);
}
