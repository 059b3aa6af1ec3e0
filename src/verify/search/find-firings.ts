import { Heap } from '../../net/internal.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import type { State } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { begins } from './property-names.ts';
import { RelaxedDistance } from './relaxed-distance.ts';
import { MAX_TOKENS, PAUSE_INTERVAL_MS } from './search.ts';
import type { OnPause, Path } from './search.ts';

/** A run of a net, and the transitions that fire or start in it. */
export interface FiringRun {
  readonly path: Path;
  readonly begun: ReadonlySet<number>;
}

/** The result of `findFirings`. */
export interface FoundFirings {
  readonly runs: readonly FiringRun[];
  /** The number of states visited. */
  readonly states: number;
}

/** The limits of `findFirings`. */
export interface FiringLimits {
  readonly states: number;
  /** A time of `performance.now()`. */
  readonly endsAt: number;
}

/** A state, and the step that leads to it. */
interface Reached {
  readonly state: State;
  readonly before: Reached | undefined;
  readonly move: Move | undefined;
  /** The estimated number of steps to the wanted firing. */
  readonly distance: number;
  /** The number of its tokens, without those of budgets. */
  readonly load: number;
  readonly number: number;
}

/** A search for one firing visits at most this many states. */
const MAX_STATES_EACH = 4_000;

/**
 * Searches for runs in which transitions fire or start, one after the other: from the end of a run, the nearest that is
 * still wanted. States that seem nearest to it are visited first, and of these the ones with the fewest tokens. So a run
 * through a long chain of steps needs about as many states as it has steps. A transition that is not found may still
 * fire in another run.
 */
export async function findFirings(
  system: TransitionSystem,
  wanted: ReadonlySet<number>,
  limits: FiringLimits,
  onPause: OnPause,
): Promise<FoundFirings> {
  const search = new FiringSearch(system, limits);
  try {
    const steps = search.run(wanted);
    let step = steps.next();
    while (step.done !== true) step = steps.next(await onPause(step.value));
  } catch (error) {
    if (!(error instanceof SearchLimitError)) throw error;
  }
  return search;
}

class FiringSearch implements FoundFirings {
  readonly #system: TransitionSystem;
  readonly #limits: FiringLimits;
  readonly #distance: RelaxedDistance;
  readonly #budgets: ReadonlySet<number>;
  readonly runs: FiringRun[] = [];
  #pausesAt = performance.now() + PAUSE_INTERVAL_MS;
  #isEnded = false;
  states = 0;

  constructor(system: TransitionSystem, limits: FiringLimits) {
    this.#system = system;
    this.#limits = limits;
    this.#distance = new RelaxedDistance(system.net, system.tokenClasses);
    this.#budgets = listBudgets(system.net);
  }

  /** Yields the number of states at each pause; a string that it receives ends the search. */
  *run(wanted: ReadonlySet<number>): Generator<number, void, string | undefined> {
    const missing = new Set(wanted);
    const start = this.#reached(this.#system.initial(), undefined, undefined, 0);
    while (missing.size > 0 && !this.#isEnded) {
      const target = this.#distance.findNearest(start.state, missing);
      if (target === undefined) return;
      missing.delete(target);
      const first = yield* this.#search(start, target);
      if (first === undefined) continue;
      const end = yield* this.#extend(first, missing);
      const { begun } = this.#addRun(end);
      for (const t of begun) missing.delete(t);
    }
  }

  /** Continues a run as long as it comes to more of the missing transitions. Returns its end. */
  *#extend(
    first: Reached,
    missing: ReadonlySet<number>,
  ): Generator<number, Reached, string | undefined> {
    let end = first;
    const left = new Set(missing);
    for (;;) {
      for (const t of toBegun(toPath(end))) left.delete(t);
      const target = this.#distance.findNearest(end.state, left);
      const next = target === undefined ? undefined : yield* this.#search(end, target);
      if (next === undefined) return end;
      end = next;
    }
  }

  #addRun(end: Reached): FiringRun {
    const path = toPath(end);
    const run = { path, begun: toBegun(path) };
    this.runs.push(run);
    return run;
  }

  /** Searches from a state for a step that begins a transition. Returns the state after it. */
  *#search(
    start: Reached,
    target: number,
  ): Generator<number, Reached | undefined, string | undefined> {
    const system = this.#system;
    const known = new Set([encode(start.state)]);
    const open = new Heap<Reached>(isNearer);
    open.push(start);
    for (let before = open.pop(); before !== undefined; before = open.pop()) {
      if (yield* this.#mustEnd()) return undefined;
      for (const move of system.successors(before.state).moves) {
        const state = system.apply(before.state, move);
        if (begins(move) && move.t === target) return this.#reached(state, before, move, 0);
        const key = encode(state);
        if (known.has(key) || state.tokens.length > MAX_TOKENS) continue;
        known.add(key);
        this.states++;
        const distance = this.#distance.measure(state, target);
        if (distance !== undefined) open.push(this.#reached(state, before, move, distance));
      }
      if (known.size > MAX_STATES_EACH) return undefined;
    }
    return undefined;
  }

  *#mustEnd(): Generator<number, boolean, string | undefined> {
    const now = performance.now();
    if (this.states > this.#limits.states || now > this.#limits.endsAt) this.#isEnded = true;
    if (now >= this.#pausesAt) {
      if ((yield this.states) !== undefined) this.#isEnded = true;
      this.#pausesAt = performance.now() + PAUSE_INTERVAL_MS;
    }
    return this.#isEnded;
  }

  #reached(
    state: State,
    before: Reached | undefined,
    move: Move | undefined,
    distance: number,
  ): Reached {
    const { tokenClasses } = this.#system;
    const load = state.tokens.filter((code) => !this.#budgets.has(tokenClasses.get(code).place));
    return { state, before, move, distance, load: load.length, number: this.states };
  }
}

/** Of equally near and loaded states, the newest comes first. */
function isNearer(a: Reached, b: Reached): boolean {
  if (a.distance !== b.distance) return a.distance < b.distance;
  if (a.load !== b.load) return a.load < b.load;
  return a.number > b.number;
}

/** The places that a firing fills with several tokens without a value: more of them only allow more. */
function listBudgets({ net, transitions, places }: ExpandedNet): ReadonlySet<number> {
  const filled = transitions
    .flatMap((t) => t.alternatives.flatMap(({ outputs }) => outputs))
    .filter(({ isUpTo, place }) => isUpTo && place >= 0)
    .map(({ place }) => place);
  return new Set(
    filled.filter((place) => {
      const known = net.places.get(places[place]?.name ?? '');
      return known?.kind === 'tokens' && known.schema === undefined;
    }),
  );
}

function encode({ phase, faults, environment, tokens }: State): string {
  return String.fromCharCode(phase, faults, ...environment, ...tokens);
}

function toPath(end: Reached): Path {
  const states: State[] = [];
  const moves: Move[] = [];
  for (let at: Reached | undefined = end; at !== undefined; at = at.before) {
    states.push(at.state);
    if (at.move !== undefined) moves.push(at.move);
  }
  return { states: states.toReversed(), moves: moves.toReversed() };
}

function toBegun({ moves }: Path): ReadonlySet<number> {
  return new Set(moves.filter((move) => begins(move)).map(({ t }) => t));
}
