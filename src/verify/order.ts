import { canonical } from './naming.ts';
import type { Path } from './search.ts';
import { SETTLING } from './state.ts';
import type { State } from './state.ts';
import type { Steps } from './steps.ts';
import { SearchLimitError } from './verify-errors.ts';

/** A path is not sought further than this many states. */
const MOST_STATES = 20_000;

/**
 * The same path with the ages of its tokens, if the executor can go it: at each step it must choose among equals what
 * the path says. Undefined when it never does.
 */
export function orderedPath(unordered: Steps, ordered: Steps, path: Path): Path | undefined {
  const targets = path.states.map((state) => wordOf(state));
  const seen = new Set<string>();
  const states: State[] = [];
  const moves: Path['moves'][number][] = [];
  const reach = (state: State, level: number): boolean => {
    if (wordOf(canonical(state, unordered)) !== targets[level]) return false;
    const key = `${level}|${state.phase}|${wordOf(state)}`;
    if (seen.has(key) || seen.size > MOST_STATES) return false;
    seen.add(key);
    states.push(state);
    const wanted = path.moves[level];
    if (wanted === undefined) return true;
    for (const move of ordered.look(state).moves) {
      if (move.kind !== wanted.kind || move.t !== wanted.t) continue;
      if (move.variant?.alternative !== wanted.variant?.alternative) continue;
      moves.push(move);
      if (reach(ordered.after(state, move), level + 1)) return true;
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

/** A state without its phase: how it settles is said by its steps. */
function wordOf({ phase, faults, environment, tokens }: State): string {
  return `${phase & ~SETTLING}|${faults}|${environment.join()}|${tokens.join()}`;
}
