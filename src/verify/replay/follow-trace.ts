import { isDeepStrictEqual } from 'node:util';
import type { SearchedProperty } from '../properties/property.ts';
import { ReplayError, SearchLimitError } from '../properties/verify-errors.ts';
import type { Path } from '../search/search.ts';
import { createMonitor, VIOLATED } from '../search/property-monitor.ts';
import type { PropertyMonitor } from '../search/property-monitor.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import type { State } from '../system/state.ts';
import { TokenClasses } from '../system/token-classes.ts';
import { TransitionSystem } from '../system/transition-system.ts';
import { countByPlace, toTrace } from '../trace/trace.ts';
import type { Trace, TraceStep } from '../trace/trace.ts';
import { replay } from './replay.ts';

/** A trace is given up after this many states: several states may have the markings of the trace. */
const MAX_STATES = 20_000;

/**
 * Checks a trace that comes from outside: the net takes its steps, the last one violates the property, and the executor
 * follows them. False for a trace with a cycle, because its steps alone do not show that they repeat for ever.
 */
export function isRefutation(net: ExpandedNet, property: SearchedProperty, trace: Trace): boolean {
  if (trace.circleFrom !== undefined || trace.markings.length !== trace.steps.length + 1)
    return false;
  const tokenClasses = new TokenClasses();
  const monitor = createMonitor(net, tokenClasses, property);
  const outlets = new Set(
    [...monitor.outlets, ...trace.steps.flatMap(({ gives }) => Object.keys(gives))].filter(
      (name) => net.net.places.get(name)?.kind === 'outlet',
    ),
  );
  const system = new TransitionSystem(net, 'ordered', outlets, tokenClasses);
  try {
    const path = new TraceWalk(system, monitor, trace).find();
    if (path === undefined || !isDeepStrictEqual(toPlain(toTrace(system, path)), toPlain(trace)))
      return false;
    replay(system, path);
    return true;
  } catch (error) {
    if (error instanceof ReplayError || error instanceof SearchLimitError) return false;
    throw error;
  }
}

/** A copy without prototypes and without members that are undefined, as JSON has it. */
function toPlain(trace: Trace): unknown {
  return JSON.parse(JSON.stringify(trace));
}

/** Finds the states behind the markings of a trace. */
class TraceWalk {
  readonly #system: TransitionSystem;
  readonly #monitor: PropertyMonitor;
  readonly #trace: Trace;
  readonly #seen = new Set<string>();
  readonly #states: State[] = [];
  readonly #moves: Move[] = [];

  constructor(system: TransitionSystem, monitor: PropertyMonitor, trace: Trace) {
    this.#system = system;
    this.#monitor = monitor;
    this.#trace = trace;
  }

  find(): Path | undefined {
    return this.#reach(this.#system.initial(), this.#monitor.initial, 0)
      ? { states: this.#states, moves: this.#moves }
      : undefined;
  }

  /** True if the rest of the trace leads from this state to a violation. `memory` is that of the monitor. */
  #reach(state: State, memory: number, level: number): boolean {
    const { steps, markings } = this.#trace;
    if (!isDeepStrictEqual({ ...countByPlace(this.#system, state) }, { ...markings[level] }))
      return false;
    const { phase, faults, environment, tokens } = state;
    const key = `${level}|${memory}|${phase}|${faults}|${environment.join()}|${tokens.join()}`;
    if (this.#seen.has(key) || this.#seen.size > MAX_STATES) return false;
    this.#seen.add(key);
    this.#states.push(state);
    const { moves, view, isStuck } = this.#system.successors(state);
    const step = steps[level];
    if (step === undefined) {
      if (memory === VIOLATED || this.#monitor.isViolated(view, memory, isStuck)) return true;
    } else if (memory !== VIOLATED)
      for (const move of moves) {
        if (!this.#isStep(move, step)) continue;
        this.#moves.push(move);
        const after = this.#monitor.next?.(memory, state, move) ?? memory;
        if (this.#reach(this.#system.apply(state, move), after, level + 1)) return true;
        this.#moves.pop();
      }
    this.#states.pop();
    return false;
  }

  #isStep({ kind, t, variant }: Move, step: TraceStep): boolean {
    const name = this.#system.net.transitions[t]?.name;
    return (
      kind === step.kind &&
      name === step.transition &&
      (variant?.alternative ?? '') === (step.alternative ?? '')
    );
  }
}
