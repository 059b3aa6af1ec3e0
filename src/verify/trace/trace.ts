import { omitUndefined } from '../../core/internal.ts';
import type { Move, MoveKind } from '../system/move.ts';
import type { Path } from '../search/search.ts';
import type { State } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';

/** One step of a counterexample, with the vocabulary of the journal. */
export interface TraceStep {
  readonly kind: MoveKind;
  /** The transition of the step, if it has one. */
  readonly transition?: string;
  /** The name of the alternative, if the outputs are a `oneOf`. */
  readonly alternative?: string;
  /** The numbers of added tokens, by place or outlet. Firings in flight are omitted, because `started` implies them. */
  readonly gives: Readonly<Record<string, number>>;
}

/** The steps from the initial marking to a marking that violates a property; the shortest path the search found. */
export interface Trace {
  readonly steps: readonly TraceStep[];
  /** The numbers of tokens by place, initially and after each step. */
  readonly markings: readonly Readonly<Record<string, number>>[];
  /** The numbers of tokens by place after the last step. */
  readonly marking: Readonly<Record<string, number>>;
  /** The index of the first step of a cycle. The steps from there lead back to their start, so they can repeat forever. */
  readonly circleFrom?: number;
  /** The index after the last step of the cycle, if steps follow it. */
  readonly circleTo?: number;
}

/** Returns the trace of a path. */
export function toTrace(system: TransitionSystem, path: Path): Trace {
  const end = path.states.at(-1);
  return {
    steps: path.moves.map((move) => toTraceStep(system, move)),
    markings: path.states.map((state) => countByPlace(system, state)),
    marking: end === undefined ? {} : countByPlace(system, end),
    ...omitUndefined({ circleFrom: path.cycleFrom, circleTo: path.cycleTo }),
  };
}

/** Returns the numbers of tokens by place. Firings that wait for a retry count as running. */
export function countByPlace(
  { net, tokenClasses }: Pick<TransitionSystem, 'net' | 'tokenClasses'>,
  { tokens }: State,
): Readonly<Record<string, number>> {
  return countNames(tokens.map((code) => net.places[tokenClasses.get(code).place]?.name ?? ''));
}

function toTraceStep({ net, tokenClasses }: TransitionSystem, move: Move): TraceStep {
  const added = move.added.flatMap((code) => {
    const place = net.places[tokenClasses.get(code).place];
    return place !== undefined && place.effect < 0 ? [place.name] : [];
  });
  const left = (move.variant?.outlets ?? []).flatMap(([name, tokens]) =>
    Array.from({ length: tokens }, () => name),
  );
  const gives = countNames([...added, ...left]);
  const transition = net.transitions[move.t]?.name;
  const alternative = move.variant?.alternative ?? '';
  return {
    kind: move.kind,
    ...omitUndefined({ transition, alternative: alternative !== '' ? alternative : undefined }),
    gives,
  };
}

/** Formats a trace as text, one line for each step. */
export function formatTrace({ steps, marking, circleFrom, circleTo }: Trace): string {
  const width = String(steps.length).length;
  const lines = steps.map((step, index) => {
    const mark = index === circleFrom || index + 1 === circleTo ? '↻' : ' ';
    return `${mark} ${String(index + 1).padStart(width)}. ${formatStep(step)}`;
  });
  const tokens = Object.entries(marking).map(([place, n]) => (n === 1 ? place : `${n} ${place}`));
  const end = tokens.length === 0 ? 'nothing' : tokens.join(', ');
  return [...lines, `  ends with: ${end}`].join('\n');
}

/** Formats one step as one line. */
export function formatStep({ kind, transition, alternative, gives }: TraceStep): string {
  const tokens = Object.entries(gives).map(([place, n]) => (n === 1 ? place : `${n} ${place}`));
  const to = tokens.length === 0 ? '' : ` → ${tokens.join(', ')}`;
  if (kind === 'injected') return `from outside${to}`;
  if (kind === 'draining') return 'the owner begins to close: no effect starts';
  if (kind === 'owned') return 'the next owner continues';
  const by = alternative === undefined ? '' : ` (${alternative})`;
  return `${kind} ${transition ?? ''}${by}${to}`;
}

/** Counts how often each name occurs. A name may be that of a member of every object, such as `constructor`. */
export function countNames(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}
