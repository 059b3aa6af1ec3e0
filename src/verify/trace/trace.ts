import type { Move, MoveKind } from '../system/move.ts';
import type { Path } from '../search/search.ts';
import type { State } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';

/** One step of a counterexample, in the words of the journal. */
export interface TraceStep {
  readonly kind: MoveKind;
  /** The transition, when the step is one's. */
  readonly transition?: string;
  /** For an alternative of a `oneOf`: which. */
  readonly alternative?: string;
  /** Tokens that came, by place or outlet; a firing in flight is not shown, its `started` says it. */
  readonly gives: Readonly<Record<string, number>>;
}

/** How the net comes to a marking that breaks a property: the shortest way the search knows. */
export interface Trace {
  readonly steps: readonly TraceStep[];
  /** Tokens by place: at the beginning, and after each step. */
  readonly markings: readonly Readonly<Record<string, number>>[];
  /** Where it ends: tokens by place. */
  readonly marking: Readonly<Record<string, number>>;
  /** The steps from this one on lead back to where they began: they can go on for ever. */
  readonly circleFrom?: number;
}

export function toTrace(system: TransitionSystem, path: Path): Trace {
  const end = path.states.at(-1);
  return {
    steps: path.moves.map((move) => toTraceStep(system, move)),
    markings: path.states.map((state) => countByPlace(system, state)),
    marking: end === undefined ? {} : countByPlace(system, end),
    ...(path.cycleFrom !== undefined && { circleFrom: path.cycleFrom }),
  };
}

/** Tokens by place; firings that wait for a retry count as running. */
export function countByPlace(
  { net, tokenClasses }: Pick<TransitionSystem, 'net' | 'tokenClasses'>,
  { tokens }: State,
): Readonly<Record<string, number>> {
  const marking: Record<string, number> = {};
  for (const code of tokens) {
    const name = net.places[tokenClasses.get(code).place]?.name ?? '';
    marking[name] = (marking[name] ?? 0) + 1;
  }
  return marking;
}

function toTraceStep({ net, tokenClasses }: TransitionSystem, move: Move): TraceStep {
  const gives: Record<string, number> = {};
  for (const code of move.added) {
    const place = net.places[tokenClasses.get(code).place];
    if (place !== undefined && place.effect < 0) gives[place.name] = (gives[place.name] ?? 0) + 1;
  }
  for (const [name, tokens] of move.variant?.outlets ?? []) if (tokens > 0) gives[name] = tokens;
  const transition = net.transitions[move.t]?.name;
  const alternative = move.variant?.alternative ?? '';
  return {
    kind: move.kind,
    ...(transition !== undefined && { transition }),
    ...(alternative !== '' && { alternative }),
    gives,
  };
}

/** A trace as lines a person reads. */
export function formatTrace({ steps, marking, circleFrom }: Trace): string {
  const width = String(steps.length).length;
  const lines = steps.map((step, index) => {
    const mark = index === circleFrom ? '↻' : ' ';
    return `${mark} ${String(index + 1).padStart(width)}. ${formatStep(step)}`;
  });
  const held = Object.entries(marking).map(([place, n]) => (n === 1 ? place : `${n} ${place}`));
  const end = held.length === 0 ? 'nothing' : held.join(', ');
  return [...lines, `  ends with: ${end}`].join('\n');
}

/** One step as a line. */
export function formatStep({ kind, transition, alternative, gives }: TraceStep): string {
  const tokens = Object.entries(gives).map(([place, n]) => (n === 1 ? place : `${n} ${place}`));
  const to = tokens.length === 0 ? '' : ` → ${tokens.join(', ')}`;
  if (kind === 'injected') return `from outside${to}`;
  if (kind === 'draining') return 'the owner begins to close: no effect starts';
  if (kind === 'owned') return 'the next owner goes on';
  const by = alternative === undefined ? '' : ` (${alternative})`;
  return `${kind} ${transition ?? ''}${by}${to}`;
}
