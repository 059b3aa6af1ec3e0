import { EventualityGraph, isPromised } from './eventuality.ts';
import { findCycle } from './find-cycle.ts';
import type { Graph } from './find-cycle.ts';
import {
  DEFAULT_MEMORY_BYTES,
  DEFAULT_SEARCH_TIMEOUT_MS,
  DEFAULT_STATES,
} from '../properties/bounds.ts';
import { canonicalize } from '../system/canonicalize.ts';
import type { Move } from '../system/move.ts';
import { SETTLING } from '../system/state.ts';
import type { State } from '../system/state.ts';
import type { TransitionSystem } from '../system/transition-system.ts';
import { VIOLATED } from './property-monitor.ts';
import { begins } from './property-names.ts';
import type { PropertyMonitor } from './property-monitor.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

/** A path through the expanded net: `moves[i]` leads from `states[i]` to `states[i + 1]`. */
export interface Path {
  readonly states: readonly State[];
  readonly moves: readonly Move[];
  /** For a path with a cycle: the index of the state that equals the last state. */
  readonly cycleFrom?: number;
  /** For a path that refused firings follow: the index of the last state of the cycle. Default: the last state. */
  readonly cycleTo?: number;
  /** True if the cycle repeats in one settling, so that the executor reaches its limit. */
  readonly isLivelock?: boolean;
}

/** The result of a search for one monitor. */
export type Finding =
  | {
      readonly verdict: 'holds';
      /** For a property that transitions can fire: a path to a firing of each. */
      readonly witnesses?: readonly Path[];
    }
  | { readonly verdict: 'broken'; readonly path: Path }
  /** These transitions never fire. */
  | { readonly verdict: 'missing'; readonly transitions: readonly string[] }
  | { readonly verdict: 'unknown'; readonly reason: string };

/** The result of a search. */
export interface SearchOutcome {
  /** One finding for each monitor, in the order of the monitors. */
  readonly findings: readonly Finding[];
  /** The number of states visited. */
  readonly states: number;
  /** True if the search visited every reachable state. */
  readonly complete: boolean;
  /** The transitions that fired or started in some step. */
  readonly begun: ReadonlySet<number>;
}

/** The limits of a search; see `Bounds` for units and defaults. */
export interface SearchLimits {
  readonly states?: number;
  readonly memoryBytes?: number;
  readonly searchTimeoutMs?: number;
  /**
   * `nearest first` finds a shortest violation. `newest first` often finds one sooner; it is not for monitors that look
   * for cycles. Default: `nearest first`.
   */
  readonly order?: 'nearest first' | 'newest first';
}

/** A marking with more tokens than this is assumed to grow without end. */
export const MAX_TOKENS = 500;
/** The maximum memory of a monitor: an encoded state stores it in 16 bits. */
const MAX_MONITOR_STATE = 65_535;
/** The memory of a state in addition to its encoding: its entry in the index and its link to its parent. */
export const BYTES_PER_STATE = 120;
const BYTES_PER_EDGE = 8;
/** The time between two pauses of a search. */
export const PAUSE_INTERVAL_MS = 50;

/**
 * Called when the search pauses, with the number of states visited so far. A promise delays the search. A string ends
 * it: it is the reason why the monitors without a finding stay undecided.
 */
export type OnPause = (states: number) => Promise<string | undefined>;

/**
 * Searches all reachable states breadth-first, so the first violation found is a shortest one. Several monitors can
 * share a search if at most one of them has a memory. The search pauses every 50 ms, so that other work can run.
 * @throws RangeError if more than one monitor has a memory.
 */
export async function search(
  system: TransitionSystem,
  monitors: readonly PropertyMonitor[],
  limits: SearchLimits = {},
  onPause: OnPause = async () => undefined,
): Promise<SearchOutcome> {
  const run = new Search(system, monitors, limits).run();
  let step = run.next();
  while (step.done !== true) step = run.next(await onPause(step.value));
  return step.value;
}

/** Returns the reachable markings, encoded by `encodeMarking`. Undefined if the search reached a limit. */
export function reachableMarkings(
  system: TransitionSystem,
  limits: SearchLimits = {},
): ReadonlySet<string> | undefined {
  const search = new Search(system, [], limits);
  const run = search.run();
  let step = run.next();
  while (step.done !== true) step = run.next();
  return step.value.complete ? search.markings() : undefined;
}

/** Encodes a marking without attempts, phases and remaining budgets. */
export function encodeMarking(system: TransitionSystem, tokens: readonly number[]): string {
  const bare = tokens.map((code) => system.tokenClasses.withAttemptState(code, 0));
  const none = { phase: 0, faults: 0, environment: [] };
  return String.fromCharCode(...canonicalize({ ...none, tokens: bare }, system).tokens);
}

class Search {
  readonly #system: TransitionSystem;
  readonly #monitors: readonly PropertyMonitor[];
  readonly #limits: Required<SearchLimits>;
  readonly #statefulMonitor: PropertyMonitor | undefined;
  readonly #ids = new Map<string, number>();
  readonly #encodedStates: string[] = [];
  readonly #parents: number[] = [];
  /** By state, the index of the move of its parent that led to it. */
  readonly #ordinals: number[] = [];
  readonly #findings: (Finding | undefined)[];
  readonly #header: number;
  readonly #graph: Graph | undefined;
  readonly #eventuality: EventualityGraph | undefined;
  /** The transitions of which some step begins a firing: the first of these steps, and the state before it. */
  readonly #begun = new Map<number, readonly [id: number, move: Move]>();
  #open: number;
  #bytes = 0;
  #longest = 0;

  constructor(
    system: TransitionSystem,
    monitors: readonly PropertyMonitor[],
    limits: SearchLimits,
  ) {
    this.#system = system;
    this.#monitors = monitors;
    this.#limits = {
      states: limits.states ?? DEFAULT_STATES,
      memoryBytes: limits.memoryBytes ?? DEFAULT_MEMORY_BYTES,
      searchTimeoutMs: limits.searchTimeoutMs ?? DEFAULT_SEARCH_TIMEOUT_MS,
      order: limits.order ?? 'nearest first',
    };
    const stateful = monitors.filter((monitor) => monitor.next !== undefined);
    if (stateful.length > 1) {
      throw new RangeError('a search can have only one monitor with a memory');
    }
    this.#statefulMonitor = stateful[0];
    this.#findings = monitors.map(() => undefined);
    this.#open = monitors.length;
    this.#header = 3 + system.net.environment.length;
    const isFair = this.#statefulMonitor?.mayWait !== undefined;
    this.#eventuality = isFair ? new EventualityGraph() : undefined;
    if (this.#statefulMonitor?.isPending !== undefined && !isFair)
      this.#graph = { from: [], to: [] };
  }

  /** Runs the search. Yields the number of states at each pause; a string that it receives is a reason to end. */
  *run(): Generator<number, SearchOutcome, string | undefined> {
    const gaveUp = yield* this.#explore();
    if (gaveUp === undefined && this.#open > 0) {
      this.#searchForCycle();
      this.#searchForTrap();
      this.#recordMissing();
    }
    const reason = gaveUp ?? '';
    return {
      findings: this.#findings.map(
        (finding): Finding =>
          finding ?? (gaveUp === undefined ? { verdict: 'holds' } : { verdict: 'unknown', reason }),
      ),
      states: this.#encodedStates.length,
      complete: gaveUp === undefined && (this.#open > 0 || this.#monitors.length === 0),
      begun: new Set(this.#begun.keys()),
    };
  }

  /** Visits all states. Returns the limit that it exceeded, if any. */
  *#explore(): Generator<number, string | undefined, string | undefined> {
    const { searchTimeoutMs } = this.#limits;
    const startedAt = performance.now();
    let pausesAt = startedAt + PAUSE_INTERVAL_MS;
    try {
      this.#addState(this.#system.initial(), this.#statefulMonitor?.initial ?? 0, -1, 0);
      const newest: number[] = [];
      for (let next = 0; next < this.#encodedStates.length; next++) {
        const known = this.#encodedStates.length;
        this.#expand(this.#limits.order === 'nearest first' ? next : (newest.pop() ?? 0));
        for (let id = known; id < this.#encodedStates.length; id++) newest.push(id);
        if (this.#open === 0 && this.#monitors.length > 0) return undefined;
        const now = performance.now();
        if (now > startedAt + searchTimeoutMs)
          return `more than ${searchTimeoutMs / 1000} s of search`;
        const gaveUp = this.#exceededLimit();
        if (gaveUp !== undefined) return gaveUp;
        if (now < pausesAt) continue;
        const ended = yield this.#encodedStates.length;
        if (ended !== undefined) return ended;
        pausesAt = performance.now() + PAUSE_INTERVAL_MS;
      }
      return undefined;
    } catch (error) {
      if (error instanceof SearchLimitError) return error.limit;
      throw error;
    }
  }

  /** Returns the limit that the search exceeded, if any. */
  #exceededLimit(): string | undefined {
    const { states, memoryBytes } = this.#limits;
    if (this.#encodedStates.length > states) return `more than ${states} states`;
    if (this.#bytes > memoryBytes) return `more than ${Math.round(memoryBytes / 1e6)} MB of states`;
    return this.#longest > MAX_TOKENS ? `more than ${MAX_TOKENS} tokens in one marking` : undefined;
  }

  markings(): ReadonlySet<string> {
    return new Set(
      this.#encodedStates.map((encoded) =>
        encodeMarking(this.#system, this.#decode(encoded).tokens),
      ),
    );
  }

  #expand(id: number): void {
    const encoded = this.#encodedStates[id] ?? '';
    const memory = encoded.charCodeAt(1);
    const state = this.#decode(encoded);
    const { moves, view, isSettled, isStuck, choices } = this.#system.successors(state);
    const violated = this.#monitors.flatMap((monitor, index) =>
      this.#findings[index] === undefined && monitor.isViolated(view, memory, isStuck)
        ? [index]
        : [],
    );
    // Only now: finding the path reads other states into the same view.
    for (const index of violated) this.#recordViolation(index, id, undefined);
    if (isSettled && (state.phase & SETTLING) !== 0) {
      // A settled state equals the same state reached without settling, so merge the two.
      const settled = String.fromCharCode(state.phase & ~SETTLING) + encoded.slice(1);
      if (this.#ids.has(settled)) {
        if (this.#statefulMonitor?.isPending?.(memory) === true) {
          this.#eventuality?.addNode(id);
          this.#eventuality?.addEdge(id, this.#ids.get(settled) ?? 0);
        }
        this.#graph?.from.push(this.#graph.to.length);
        // The other state with the same encoding gets an edge, because a cycle may close through it.
        this.#graph?.to.push(this.#ids.get(settled) ?? 0);
        return;
      }
      this.#ids.set(settled, id);
      this.#encodedStates[id] = settled;
    }
    this.#graph?.from.push(this.#graph.to.length);
    const monitor = this.#statefulMonitor;
    const eventuality = monitor?.isPending?.(memory) === true ? this.#eventuality : undefined;
    eventuality?.addNode(id, choices);
    if (isStuck && monitor?.mayWait?.(view) === true) eventuality?.addExit(id);
    for (let ordinal = 0; ordinal < moves.length; ordinal++) {
      const move = moves[ordinal];
      if (move === undefined) continue;
      if (begins(move) && !this.#begun.has(move.t)) this.#recordBegun(id, move);
      let after = memory;
      if (monitor?.next !== undefined) {
        after = monitor.next(memory, state, move);
        if (after === VIOLATED) {
          const index = this.#monitors.indexOf(monitor);
          if (this.#findings[index] === undefined) this.#recordViolation(index, id, move);
          continue;
        }
      }
      const to = this.#addState(this.#system.apply(state, move), after, id, ordinal);
      if (eventuality !== undefined && isPromised(this.#system.net, move)) {
        if (monitor?.isPending?.(after) === true) eventuality.addEdge(id, to, move.choice);
        else eventuality.addExit(id, move.choice);
        this.#bytes += BYTES_PER_EDGE;
      }
      // A change of the owner does not count as a step of a cycle: owners do not change forever.
      const isOwnership = move.kind === 'draining' || move.kind === 'owned';
      if (
        this.#graph !== undefined &&
        monitor?.isPending !== undefined &&
        !isOwnership &&
        monitor.isPending(memory) &&
        monitor.isPending(after)
      )
        this.#edge(to);
    }
  }

  #edge(to: number): void {
    this.#graph?.to.push(to);
    this.#bytes += BYTES_PER_EDGE;
  }

  #addState(state: State, memory: number, parent: number, ordinal: number): number {
    if (memory > MAX_MONITOR_STATE)
      throw new SearchLimitError(`a property that counts above ${MAX_MONITOR_STATE}`);
    const encoded = String.fromCharCode(
      state.phase,
      memory,
      state.faults,
      ...state.environment,
      ...state.tokens,
    );
    const known = this.#ids.get(encoded);
    if (known !== undefined) return known;
    const id = this.#encodedStates.length;
    this.#ids.set(encoded, id);
    this.#encodedStates.push(encoded);
    this.#parents.push(parent);
    this.#ordinals.push(ordinal);
    this.#bytes += BYTES_PER_STATE + encoded.length;
    this.#longest = Math.max(this.#longest, state.tokens.length);
    return id;
  }

  #decode(encoded: string): State {
    const environment: number[] = [];
    for (let index = 3; index < this.#header; index++) environment.push(encoded.charCodeAt(index));
    const tokens: number[] = [];
    for (let index = this.#header; index < encoded.length; index++)
      tokens.push(encoded.charCodeAt(index));
    return { phase: encoded.charCodeAt(0), faults: encoded.charCodeAt(2), environment, tokens };
  }

  #recordViolation(index: number, id: number, last: Move | undefined): void {
    this.#findings[index] = { verdict: 'broken', path: this.#path(id, last) };
    this.#open--;
  }

  /** Returns the path to a state, extended by `last` if it is defined. */
  #path(id: number, last: Move | undefined): Path {
    const ids: number[] = [];
    for (let at = id; at >= 0; at = this.#parents[at] ?? -1) ids.unshift(at);
    const states = ids.map((at) => this.#decode(this.#encodedStates[at] ?? ''));
    const moves = ids.slice(1).map((at, index) => this.#move(states[index], at));
    const end = states.at(-1);
    if (last === undefined || end === undefined) return { states, moves };
    return { states: [...states, this.#system.apply(end, last)], moves: [...moves, last] };
  }

  #move(from: State | undefined, to: number): Move {
    const move = from && this.#system.successors(from).moves[this.#ordinals[to] ?? 0];
    if (move === undefined) throw new RangeError('a state has no move from its parent');
    return move;
  }

  #recordBegun(id: number, move: Move): void {
    this.#begun.set(move.t, [id, move]);
    this.#monitors.forEach(({ witnesses }, index) => {
      if (this.#findings[index] !== undefined || witnesses === undefined) return;
      if (![...witnesses].every((one) => this.#begun.has(one))) return;
      const firings = [...witnesses].flatMap((one) => {
        const firing = this.#begun.get(one);
        return firing === undefined ? [] : [this.#path(...firing)];
      });
      this.#findings[index] = { verdict: 'holds', witnesses: firings };
      this.#open--;
    });
  }

  #recordMissing(): void {
    this.#monitors.forEach(({ witnesses }, index) => {
      if (this.#findings[index] !== undefined || witnesses === undefined) return;
      const transitions = [...witnesses]
        .filter((t) => !this.#begun.has(t))
        .map((t) => this.#system.net.transitions[t]?.name ?? '');
      this.#findings[index] = { verdict: 'missing', transitions };
      this.#open--;
    });
  }

  #searchForCycle(): void {
    if (this.#graph === undefined) return;
    const cycle = findCycle(this.#graph);
    const [first] = cycle ?? [];
    if (cycle !== undefined && first !== undefined) this.#recordLoop([...cycle, first], 0);
  }

  #searchForTrap(): void {
    const trap = this.#eventuality?.findTrap();
    const last = trap?.at(-1);
    if (trap !== undefined && last !== undefined) this.#recordLoop(trap, trap.indexOf(last));
  }

  /** Records a violation: the path to the first of these states, then from each to the next. The last one repeats. */
  #recordLoop(ids: readonly number[], cycleFrom: number): void {
    const monitor = this.#statefulMonitor;
    const [first] = ids;
    if (monitor === undefined || first === undefined) return;
    const stem = this.#path(first, undefined);
    const states = [...stem.states];
    const moves = [...stem.moves];
    let cycleStart = stem.states.length - 1;
    for (const [index, next] of ids.slice(1).entries()) {
      const from = states.at(-1);
      const target = this.#encodedStates[next] ?? '';
      if (from === undefined) return;
      const { moves: possible } = this.#system.successors(from);
      const found =
        possible.find((move) => this.#leadsTo(from, move, target, 0)) ??
        // The encoding of a settled state has lost its flag.
        possible.find((move) => this.#leadsTo(from, move, target, SETTLING));
      // An edge between two states that were merged is not a step.
      if (found !== undefined) {
        states.push(this.#system.apply(from, found));
        moves.push(found);
      }
      if (index + 1 === cycleFrom) cycleStart = states.length - 1;
    }
    this.#findings[this.#monitors.indexOf(monitor)] = {
      verdict: 'broken',
      path: { states, moves, cycleFrom: cycleStart },
    };
    this.#open--;
  }

  /** True if the move leads to the encoded state, apart from the ignored flags of its phase and the memory. */
  #leadsTo(from: State, move: Move, target: string, ignored: number): boolean {
    const { phase, faults, environment, tokens } = this.#system.apply(from, move);
    return (
      (phase & ~ignored) === (target.charCodeAt(0) & ~ignored) &&
      String.fromCharCode(faults, ...environment, ...tokens) === target.slice(2)
    );
  }
}
