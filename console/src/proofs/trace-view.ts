import type { ProofTrace } from '../api/types.ts';
import type { MarkingView, RunningEffect } from '../net/token-view.ts';
import type { RecordMoves } from '../session/record-moves.ts';

type Counts = ProofTrace['marking'];

/** A marking of a counterexample as the drawing of a net needs it. Nothing in a proof has a time. */
export function viewCounts(counts: Counts): MarkingView {
  const places = new Map<string, { readonly count: number; readonly timed: boolean }>();
  const running = new Map<string, readonly RunningEffect[]>();
  for (const [name, count] of Object.entries(counts)) {
    const transition = /^running\((.+)\)$/u.exec(name)?.[1];
    if (transition === undefined) places.set(name, { count, timed: false });
    else
      running.set(
        transition,
        Array.from({ length: count }, (_, firing) => ({
          firing,
          startedAt: 0,
          attempt: 1,
          crashes: 0,
          retryAt: undefined,
        })),
      );
  }
  return { places, running };
}

/** The tokens that a step moves: what differs between the markings before and after it. */
export function listStepMoves(trace: ProofTrace, step: number): RecordMoves {
  const before = trace.markings[step - 1] ?? {};
  const after = trace.markings[step] ?? {};
  const taken = new Map<string, number>();
  const given = new Map<string, number>();
  if (step > 0)
    for (const place of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const change = (after[place] ?? 0) - (before[place] ?? 0);
      if (change > 0) given.set(place, change);
      if (change < 0) taken.set(place, -change);
    }
  return { taken, reset: new Map(), given, written: new Set() };
}

/** One line about a step. Step 0 is the initial marking. */
export function describeStep(trace: ProofTrace, step: number): string {
  const found = trace.steps[step - 1];
  if (found === undefined) return 'the initial marking';
  const { kind, transition, alternative, gives } = found;
  const tokens = Object.entries(gives).map(([place, n]) => (n === 1 ? place : `${n} ${place}`));
  switch (kind) {
    case 'injected':
      return `${tokens.join(', ') || 'a token'} comes from outside`;
    case 'draining':
      return 'the owner begins to close: no effect starts';
    case 'owned':
      return 'the next owner continues';
    default: {
      const by = alternative === undefined ? '' : ` (${alternative})`;
      return `${kind} ${transition ?? ''}${by}`;
    }
  }
}

/** True for a step of the part that repeats forever. */
export function isInCycle({ circleFrom, circleTo, steps }: ProofTrace, step: number): boolean {
  return circleFrom !== undefined && step > circleFrom && step <= (circleTo ?? steps.length);
}
