import { canonicalize } from '../system/canonicalize.ts';
import type { Path } from './search.ts';
import { SETTLING } from '../system/state.ts';
import type { Move } from '../system/move.ts';
import type { State } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

/** The search for an ordered path gives up after this many states. */
const MAX_STATES = 20_000;

/**
 * Returns the path in the ordered transition system, if the executor can follow it, that is, if its choice among equals
 * can match every step of the path. Undefined if it cannot, or if the search reached a limit.
 */
export function findOrderedPath(
  unordered: TransitionSystem,
  ordered: TransitionSystem,
  path: Path,
): Path | undefined {
  const targets = path.states.map((state) => encodeState(state));
  const wanted = path.moves.map((move, level) => encodeMove(unordered, path.states[level], move));
  const seen = new Set<string>();
  const states: State[] = [];
  const moves: Path['moves'][number][] = [];
  const reach = (state: State, level: number): boolean => {
    if (encodeState(canonicalize(state, unordered)) !== targets[level]) return false;
    const key = `${level}|${state.phase}|${encodeState(state)}`;
    if (seen.has(key) || seen.size > MAX_STATES) return false;
    seen.add(key);
    states.push(state);
    if (level === wanted.length) return true;
    for (const move of ordered.successors(state).moves) {
      if (encodeMove(ordered, state, move) !== wanted[level]) continue;
      moves.push(move);
      if (reach(ordered.apply(state, move), level + 1)) return true;
      moves.pop();
    }
    states.pop();
    return false;
  };
  try {
    return reach(ordered.initial(), 0) ? { ...path, states, moves } : undefined;
  } catch (error) {
    if (error instanceof SearchLimitError) return undefined;
    throw error;
  }
}

/** Encodes what a property may observe of a step, and what the states before and after it do not show. */
function encodeMove(
  { tokenClasses }: TransitionSystem,
  state: State | undefined,
  { kind, t, variant, taken }: Move,
): string {
  const colors = taken.map((position) => tokenClasses.get(state?.tokens[position] ?? 0).color);
  const outlets = variant?.outlets.map(([name, tokens]) => `${name}:${tokens}`) ?? [];
  return [kind, t, variant?.alternative, outlets, colors.toSorted((a, b) => a - b)].join('|');
}

/** Encodes a state without its SETTLING flag, which the steps determine. */
function encodeState({ phase, faults, environment, tokens }: State): string {
  return `${phase & ~SETTLING}|${faults}|${environment.join()}|${tokens.join()}`;
}
