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
import type { PropertyMonitor } from './property-monitor.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

/** A way through the expanded net: `states[i]` is where `moves[i]` was made. */
export interface Path {
  readonly states: readonly State[];
  readonly moves: readonly Move[];
  /** For a circle: where in `states` it is closed; the last state is equal to that one. */
  readonly cycleFrom?: number;
}

export type Finding =
  | { readonly verdict: 'holds' }
  | { readonly verdict: 'broken'; readonly path: Path }
  | { readonly verdict: 'unknown'; readonly reason: string };

export interface SearchOutcome {
  /** By watch, in their order. */
  readonly findings: readonly Finding[];
  readonly states: number;
  readonly complete: boolean;
}

export interface SearchLimits {
  readonly states?: number;
  readonly memoryBytes?: number;
  readonly searchTimeoutMs?: number;
}

/** A marking with more tokens than this is taken to grow without end. */
const MAX_TOKENS = 500;
/** What a property remembers is one 16-bit letter of the state's word. */
const MAX_MONITOR_STATE = 65_535;
/** What a state costs beside its letters: its entry in the table and its way back. */
const BYTES_PER_STATE = 120;
const BYTES_PER_EDGE = 8;

/**
 * Every state that can be reached, nearest first, so that the first break found is a shortest one. Several watches share
 * a search when at most one of them remembers something.
 */
export function search(
  system: TransitionSystem,
  monitors: readonly PropertyMonitor[],
  limits: SearchLimits = {},
): SearchOutcome {
  return new Search(system, monitors, limits).run();
}

/** The markings that can be reached, as `encodeMarking` writes them; undefined when there are too many. */
export function reachableMarkings(
  system: TransitionSystem,
  limits: SearchLimits = {},
): ReadonlySet<string> | undefined {
  const search = new Search(system, [], limits);
  return search.run().complete ? search.markings() : undefined;
}

/** A marking apart from how it came about: attempts, phases and what may still come do not count. */
export function encodeMarking(system: TransitionSystem, tokens: readonly number[]): string {
  const bare = tokens.map((code) => system.tokenClasses.withStage(code, 0));
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
  /** Which move of its parent led to a state. */
  readonly #ordinals: number[] = [];
  readonly #findings: (Finding | undefined)[];
  readonly #header: number;
  readonly #graph: Graph | undefined;
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
    };
    const stateful = monitors.filter((watch) => watch.next !== undefined);
    if (stateful.length > 1) throw new RangeError('one search can remember for one watch only');
    this.#statefulMonitor = stateful[0];
    this.#findings = monitors.map(() => undefined);
    this.#open = monitors.length;
    this.#header = 3 + system.net.environment.length;
    if (this.#statefulMonitor?.isPending !== undefined) this.#graph = { from: [], to: [] };
  }

  run(): SearchOutcome {
    const gaveUp = this.#explore();
    if (gaveUp === undefined && this.#open > 0) this.#searchForCycle();
    const reason = gaveUp ?? '';
    return {
      findings: this.#findings.map(
        (finding): Finding =>
          finding ?? (gaveUp === undefined ? { verdict: 'holds' } : { verdict: 'unknown', reason }),
      ),
      states: this.#encodedStates.length,
      complete: gaveUp === undefined && (this.#open > 0 || this.#monitors.length === 0),
    };
  }

  /** Goes through all states, or says which limit was passed. */
  #explore(): string | undefined {
    const endsAt = performance.now() + this.#limits.searchTimeoutMs;
    try {
      this.#addState(this.#system.initial(), this.#statefulMonitor?.initial ?? 0, -1, 0);
      for (let id = 0; id < this.#encodedStates.length; id++) {
        this.#expand(id);
        if (this.#open === 0 && this.#monitors.length > 0) return undefined;
        const gaveUp = this.#exceededLimit(endsAt);
        if (gaveUp !== undefined) return gaveUp;
      }
      return undefined;
    } catch (error) {
      if (error instanceof SearchLimitError) return error.limit;
      throw error;
    }
  }

  /** Which limit was passed. */
  #exceededLimit(endsAt: number): string | undefined {
    const { states, memoryBytes, searchTimeoutMs } = this.#limits;
    if (this.#encodedStates.length > states) return `more than ${states} states`;
    if (this.#bytes > memoryBytes) return `more than ${Math.round(memoryBytes / 1e6)} MB of states`;
    if (this.#longest > MAX_TOKENS) return `more than ${MAX_TOKENS} tokens in one marking`;
    return performance.now() > endsAt
      ? `more than ${searchTimeoutMs / 1000} s of search`
      : undefined;
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
    const { moves, view, isSettled, isStuck } = this.#system.successors(state);
    this.#monitors.forEach((watch, index) => {
      if (this.#findings[index] === undefined && watch.isViolated(view, memory, isStuck))
        this.#recordViolation(index, id, undefined);
    });
    if (isSettled && (state.phase & SETTLING) !== 0) {
      // At rest, it makes no difference any more how the net came here.
      const settled = String.fromCharCode(state.phase & ~SETTLING) + encoded.slice(1);
      if (this.#ids.has(settled)) {
        this.#graph?.from.push(this.#graph.to.length);
        // The same state under another number: a circle may close through it.
        this.#graph?.to.push(this.#ids.get(settled) ?? 0);
        return;
      }
      this.#ids.set(settled, id);
      this.#encodedStates[id] = settled;
    }
    this.#graph?.from.push(this.#graph.to.length);
    const monitor = this.#statefulMonitor;
    for (let ordinal = 0; ordinal < moves.length; ordinal++) {
      const move = moves[ordinal];
      if (move === undefined) continue;
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
      // Closing and opening for ever is no run of a net.
      const isOwnership = move.kind === 'draining' || move.kind === 'owned';
      if (
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
      throw new SearchLimitError(`a property that counts beyond ${MAX_MONITOR_STATE}`);
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

  /** The way to a state, and one step more. */
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
    if (move === undefined) throw new RangeError('a state lost its way back');
    return move;
  }

  #searchForCycle(): void {
    const monitor = this.#statefulMonitor;
    if (this.#graph === undefined || monitor === undefined) return;
    const cycle = findCycle(this.#graph);
    const [first] = cycle ?? [];
    if (cycle === undefined || first === undefined) return;
    const stem = this.#path(first, undefined);
    const states = [...stem.states];
    const moves = [...stem.moves];
    for (const next of [...cycle.slice(1), first]) {
      const from = states.at(-1);
      const target = this.#encodedStates[next] ?? '';
      const found =
        from &&
        this.#system.successors(from).moves.find((move) => this.#leadsTo(from, move, target));
      if (from === undefined) return;
      // A step to a state under another number is no step.
      if (found === undefined) continue;
      states.push(this.#system.apply(from, found));
      moves.push(found);
    }
    this.#findings[this.#monitors.indexOf(monitor)] = {
      verdict: 'broken',
      path: { states, moves, cycleFrom: stem.states.length - 1 },
    };
    this.#open--;
  }

  #leadsTo(from: State, move: Move, target: string): boolean {
    const { phase, faults, environment, tokens } = this.#system.apply(from, move);
    return (
      String.fromCharCode(phase) === target.slice(0, 1) &&
      String.fromCharCode(faults, ...environment, ...tokens) === target.slice(2)
    );
  }
}
