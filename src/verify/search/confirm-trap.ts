import { SearchLimitError } from '../properties/verify-errors.ts';
import type { Move } from '../system/move.ts';
import type { State } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { isPromised } from './eventuality.ts';
import type { PropertyMonitor } from './property-monitor.ts';
import type { Path } from './search.ts';

/** A trap with more states is not confirmed. */
const MAX_STATES = 20_000;

/**
 * Returns a path of the ordered search into a trap, with steps that stay in it until a state repeats, if the end of this
 * path is a trap: whatever may happen next, the event that the monitor waits for cannot happen any more. Undefined if it
 * can, or if the trap is too large.
 */
export function confirmTrap(
  system: TransitionSystem,
  monitor: PropertyMonitor,
  { states, moves }: Path,
): Path | undefined {
  const end = states.at(-1);
  const { next, isPending, mayWait } = monitor;
  if (end === undefined || next === undefined) return undefined;
  let memory = monitor.initial;
  for (const [index, move] of moves.entries()) {
    const before = states[index];
    if (before !== undefined) memory = next(memory, before, move);
  }
  if (isPending?.(memory) !== true) return undefined;
  const escapes = (state: State): boolean => {
    const { moves: possible, view, isStuck } = system.successors(state);
    if (isStuck && mayWait?.(view) === true) return true;
    const promised = possible.filter((move) => isPromised(system.net, move));
    for (const move of promised) if (!isPending(next(memory, state, move))) return true;
    onward.set(encode(state), promised);
    return false;
  };
  /** By state: the steps that stay in the trap. */
  const onward = new Map<string, readonly Move[]>();
  const reached = new Map<string, State>([[encode(end), end]]);
  try {
    // The map grows during the loop.
    for (const [text, state] of reached) {
      if (escapes(state) || reached.size > MAX_STATES) return undefined;
      for (const move of onward.get(text) ?? []) {
        const after = system.apply(state, move);
        if (!reached.has(encode(after))) reached.set(encode(after), after);
      }
    }
  } catch (error) {
    if (error instanceof SearchLimitError) return undefined;
    throw error;
  }
  return followTrap(system, { states, moves }, onward);
}

/** Adds the first step of each state until a state repeats, or until no step is left. */
function followTrap(
  system: TransitionSystem,
  path: Path,
  onward: ReadonlyMap<string, readonly Move[]>,
): Path {
  const states = [...path.states];
  const moves = [...path.moves];
  const seen = new Map<string, number>();
  for (;;) {
    const state = states.at(-1);
    if (state === undefined) return path;
    const text = encode(state);
    const before = seen.get(text);
    const [move] = onward.get(text) ?? [];
    if (before !== undefined || move === undefined)
      return { states, moves, cycleFrom: before ?? states.length - 1 };
    seen.set(text, states.length - 1);
    moves.push(move);
    states.push(system.apply(state, move));
  }
}

function encode({ phase, faults, environment, tokens }: State): string {
  return String.fromCharCode(phase, faults, ...environment, ...tokens);
}
