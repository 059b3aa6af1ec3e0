import { MAX_FIRINGS_PER_SETTLE, MAX_FIRINGS_PER_TOKEN } from '../../net/internal.ts';
import {
  DEFAULT_MEMORY_BYTES,
  DEFAULT_SEARCH_TIMEOUT_MS,
  DEFAULT_STATES,
} from '../properties/bounds.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';
import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import { SETTLING } from '../system/state.ts';
import type { State, StateView } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { BYTES_PER_STATE, MAX_TOKENS, PAUSE_INTERVAL_MS } from './search.ts';
import type { OnPause, Path, SearchLimits } from './search.ts';

/**
 * The result of a search for a livelock. `ends`: every settling ends before the executor refuses a firing. `loops`: the
 * steps from `path.cycleFrom` on can repeat in one settling. `unknown`: the search gave up, or a settling may end too
 * late.
 */
export type LivelockFinding =
  | { readonly found: 'ends'; readonly states: number }
  | { readonly found: 'loops'; readonly states: number; readonly path: Path }
  | { readonly found: 'unknown'; readonly states: number; readonly reason: string };

/**
 * Searches for a settling that never ends: firings that lead back to the same state, or that add tokens and can repeat.
 * Each settling is searched depth-first, so that its open states are the path to the current one. A settling that never
 * ends visits a state twice, or visits a state with the tokens of an earlier one and more.
 */
export async function findLivelock(
  system: TransitionSystem,
  limits: SearchLimits,
  onPause: OnPause,
): Promise<LivelockFinding> {
  return new LivelockSearch(system, limits, onPause).run();
}

/** True if a step belongs to a settling that it does not leave. */
function isWithinSettling(system: TransitionSystem, move: Move): boolean {
  if ((move.phase & SETTLING) === 0) return false;
  const t = system.net.transitions[move.t];
  return t?.isImmediate === true || (move.kind === 'faulted' && t?.keyed === true);
}

interface Visit {
  readonly id: number;
  readonly state: State;
  readonly moves: readonly Move[];
  next: number;
}

/** A growing settling must repeat for this many steps before it is reported. The executor then repeats it to its limit. */
const CONFIRMED_STEPS = 200;
const TOO_LONG = 'a settling may end only after the executor refuses its firings';
const OPEN = 1;
const DONE = 2;

class LivelockSearch {
  readonly #system: TransitionSystem;
  readonly #limits: SearchLimits;
  readonly #onPause: OnPause;
  readonly #ids = new Map<string, number>();
  readonly #parents: number[] = [];
  readonly #ordinals: number[] = [];
  readonly #marks: number[] = [];
  /** States that begin a settling, with their ids. */
  readonly #roots: (readonly [State, number])[] = [];
  #bytes = 0;
  #longest = 0;
  /** By state: the most firings that can follow in its settling. */
  readonly #heights: number[] = [];
  /** The most firings without a clock or an attempt that is due. */
  #firings = 0;
  /** The most clocks and attempts that may be due in one state. */
  #due = 0;

  constructor(system: TransitionSystem, limits: SearchLimits, onPause: OnPause) {
    this.#system = system;
    this.#limits = limits;
    this.#onPause = onPause;
  }

  async run(): Promise<LivelockFinding> {
    const { searchTimeoutMs = DEFAULT_SEARCH_TIMEOUT_MS } = this.#limits;
    const endsAt = performance.now() + searchTimeoutMs;
    let pausesAt = performance.now() + PAUSE_INTERVAL_MS;
    try {
      const first = this.#system.initial();
      this.#roots.push([first, this.#add(encode(first), -1, 0)]);
      // The array grows during the loop. The settlings that begin earlier come first, so that paths are short.
      for (const root of this.#roots) {
        const path = this.#settle(...root);
        const states = this.#marks.length;
        if (path !== undefined) return { found: 'loops', states, path };
        this.#firings = Math.max(this.#firings, this.#heights[root[1]] ?? 0);
        if (this.#isTooLong()) return { found: 'unknown', states, reason: TOO_LONG };
        const now = performance.now();
        const reason =
          now > endsAt ? `more than ${searchTimeoutMs / 1000} s of search` : this.#exceededLimit();
        if (reason !== undefined) return { found: 'unknown', states, reason };
        if (now < pausesAt) continue;
        const ended = await this.#onPause(states);
        if (ended !== undefined) return { found: 'unknown', states, reason: ended };
        pausesAt = performance.now() + PAUSE_INTERVAL_MS;
      }
      return { found: 'ends', states: this.#marks.length };
    } catch (error) {
      if (!(error instanceof SearchLimitError)) throw error;
      return { found: 'unknown', states: this.#marks.length, reason: error.limit };
    }
  }

  /** Visits all states of the settlings that begin in this state. Returns the path of a livelock, if there is one. */
  #settle(root: State, rootId: number): Path | undefined {
    const trail: Visit[] = [];
    /** Opens a state. Returns the id of an equal state that was found before, if there is one. */
    const open = (state: State, id: number): number => {
      const { moves, isSettled, view } = this.#system.successors(state);
      this.#due = Math.max(this.#due, countDue(this.#system.net, view));
      if (isSettled && (state.phase & SETTLING) !== 0) {
        // A settled state equals the same state reached without settling.
        const merged = encode({ ...state, phase: state.phase & ~SETTLING });
        const known = this.#ids.get(merged);
        if (known !== undefined && known !== id) {
          this.#marks[id] = DONE;
          return known;
        }
        this.#ids.set(merged, id);
      }
      this.#marks[id] = OPEN;
      trail.push({ id, state, moves, next: 0 });
      return id;
    };
    const closeLap = (id: number, move: Move, state: State): Path | undefined => {
      const from = this.#marks[id] === OPEN ? trail.findIndex((visit) => visit.id === id) : -1;
      return from < 0 ? undefined : this.#path(trail, from, move, state);
    };
    if (this.#marks[rootId] !== 0) return undefined;
    open(root, rootId);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const ordinal = top.next++;
      const move = top.moves[ordinal];
      if (move === undefined) {
        this.#marks[top.id] = DONE;
        trail.pop();
        this.#raise(trail.at(-1)?.id, top.id);
        continue;
      }
      const state = this.#system.apply(top.state, move);
      const encoded = encode(state);
      const known = this.#ids.get(encoded);
      if (!isWithinSettling(this.#system, move)) {
        if (known === undefined) this.#roots.push([state, this.#add(encoded, top.id, ordinal)]);
        continue;
      }
      if (known !== undefined && this.#marks[known] !== 0) {
        const path = closeLap(known, move, state);
        if (path !== undefined) return path;
        this.#raise(top.id, known);
        continue;
      }
      const growing = known === undefined ? this.#findGrowth(trail, move, state) : undefined;
      if (growing !== undefined) return growing;
      const id = known ?? this.#add(encoded, top.id, ordinal);
      if (this.#exceededLimit() !== undefined) return undefined;
      const depth = trail.length;
      if (depth > MAX_FIRINGS_PER_SETTLE) {
        this.#firings = depth;
        return undefined;
      }
      const opened = open(state, id);
      if (trail.length > depth) continue;
      const path = closeLap(opened, move, state);
      if (path !== undefined) return path;
      this.#raise(top.id, opened);
    }
    return undefined;
  }

  /**
   * True if a settling may end too late. In one settling, each clock and each attempt is due once, and firings may follow
   * each of them. A token has at most one clock that is due, and a firing in flight may time out and start again.
   */
  #isTooLong(): boolean {
    const each = 1 + this.#firings - MAX_FIRINGS_PER_TOKEN / 2;
    return this.#firings + this.#due * Math.max(0, each) > MAX_FIRINGS_PER_SETTLE;
  }

  /** A firing leads from one state to the next. */
  #raise(from: number | undefined, to: number): void {
    if (from === undefined) return;
    this.#heights[from] = Math.max(this.#heights[from] ?? 0, 1 + (this.#heights[to] ?? 0));
  }

  /** Returns the path if the new state has the tokens of an open one and more, and the steps between can repeat. */
  #findGrowth(trail: readonly Visit[], last: Move, state: State): Path | undefined {
    for (let from = trail.length - 1; from >= 0; from--) {
      const earlier = trail[from]?.state;
      if (earlier === undefined || !hasGrown(earlier, state)) continue;
      const lap = [...this.#steps(trail, from), last];
      if (repeatLap(this.#system, state, lap, CONFIRMED_STEPS))
        return this.#path(trail, from, last, state);
    }
    return undefined;
  }

  #steps(trail: readonly Visit[], from: number): readonly Move[] {
    return trail.slice(from, -1).flatMap(({ moves, next }) => moves[next - 1] ?? []);
  }

  /** Returns the steps to the first open state, through the open states, and the last step. */
  #path(trail: readonly Visit[], from: number, last: Move, end: State): Path {
    const stem: number[] = [];
    for (let at = trail[0]?.id ?? -1; at >= 0; at = this.#parents[at] ?? -1) stem.unshift(at);
    const states = [this.#system.initial()];
    const moves: Move[] = [];
    for (const id of stem.slice(1)) {
      const before = states.at(-1);
      const move = before && this.#system.successors(before).moves[this.#ordinals[id] ?? 0];
      if (before === undefined || move === undefined)
        throw new RangeError('a state has no move from its parent');
      moves.push(move);
      states.push(this.#system.apply(before, move));
    }
    let cycleFrom = states.length - 1 + from;
    states.push(...trail.slice(1).map(({ state }) => state), end);
    moves.push(...this.#steps(trail, 0), last);
    // A settling begins in a state without the flag of settling, so its first lap can look like a step to the second.
    for (; cycleFrom > 0 && this.#isRepeated(states, moves, cycleFrom - 1); cycleFrom--) {
      states.pop();
      moves.pop();
    }
    return { states, moves, cycleFrom, isLivelock: true };
  }

  /** True if the step from this state is also the last step of the path, from an equal state. */
  #isRepeated(states: readonly State[], moves: readonly Move[], index: number): boolean {
    const [before, after] = [states[index], states.at(-2)];
    const [move, last] = [moves[index], moves.at(-1)];
    if (before === undefined || after === undefined || move === undefined || last === undefined)
      return false;
    const isEqual = encode({ ...before, phase: 0 }) === encode({ ...after, phase: 0 });
    return isEqual && isSameStep(move, last) && isWithinSettling(this.#system, move);
  }

  #add(encoded: string, parent: number, ordinal: number): number {
    const id = this.#marks.length;
    this.#ids.set(encoded, id);
    this.#marks.push(0);
    this.#heights.push(0);
    this.#parents.push(parent);
    this.#ordinals.push(ordinal);
    this.#bytes += BYTES_PER_STATE + encoded.length;
    this.#longest = Math.max(this.#longest, encoded.length);
    return id;
  }

  /** Returns the limit that the search exceeded, if any. */
  #exceededLimit(): string | undefined {
    const { states = DEFAULT_STATES, memoryBytes = DEFAULT_MEMORY_BYTES } = this.#limits;
    if (this.#marks.length > states) return `more than ${states} states`;
    if (this.#bytes > memoryBytes) return `more than ${Math.round(memoryBytes / 1e6)} MB of states`;
    // The encoding has few characters besides one for each token.
    return this.#longest > MAX_TOKENS ? `more than ${MAX_TOKENS} tokens in one marking` : undefined;
  }
}

/** Counts the clocks and attempts that may be due at the same time. */
function countDue({ places, timed }: ExpandedNet, view: StateView): number {
  const clocks = new Set(timed.flatMap(({ takes }) => takes[0]?.place ?? []));
  return places.reduce(
    (sum, { index, effect }) =>
      sum + (effect >= 0 ? 2 * view.count(index) : clocks.has(index) ? view.count(index) : 0),
    0,
  );
}

function encode({ phase, faults, environment, tokens }: State): string {
  return String.fromCharCode(phase, faults, ...environment, ...tokens);
}

/** True if `after` has every token of `before`, and at least one more, and nothing else differs. */
function hasGrown(before: State, after: State): boolean {
  if (after.tokens.length <= before.tokens.length || after.faults !== before.faults) return false;
  const left = new Map<number, number>();
  for (const code of after.tokens) left.set(code, (left.get(code) ?? 0) + 1);
  return before.tokens.every((code) => {
    const count = left.get(code) ?? 0;
    left.set(code, count - 1);
    return count > 0;
  });
}

/** True if the steps of a lap can be repeated from a state until this many steps. */
function repeatLap(
  system: TransitionSystem,
  from: State,
  lap: readonly Move[],
  steps: number,
): boolean {
  let state = from;
  for (let step = 0; step < steps; step++) {
    const wanted = lap[step % lap.length];
    const move = system
      .successors(state)
      .moves.find((one) => wanted !== undefined && isSameStep(one, wanted));
    if (move === undefined) return false;
    state = system.apply(state, move);
  }
  return true;
}

function isSameStep(a: Move, b: Move): boolean {
  return (
    a.kind === b.kind &&
    a.t === b.t &&
    a.variant?.alternative === b.variant?.alternative &&
    a.variant?.deposits.join() === b.variant?.deposits.join()
  );
}
