import { circleIn } from './circle.ts';
import type { Graph } from './circle.ts';
import { DEFAULT_MEMORY_BYTES, DEFAULT_SEARCH_TIMEOUT_MS, DEFAULT_STATES } from './bounds.ts';
import { canonical } from './naming.ts';
import type { Move } from './move.ts';
import { SETTLING } from './state.ts';
import type { State } from './state.ts';
import type { Steps } from './steps.ts';
import { BROKEN_BY_STEP } from './watch.ts';
import type { Watch } from './watch.ts';
import { SearchLimitError } from './verify-errors.ts';

/** A way through the expanded net: `states[i]` is where `moves[i]` was made. */
export interface Path {
  readonly states: readonly State[];
  readonly moves: readonly Move[];
  /** For a circle: where in `states` it is closed; the last state is equal to that one. */
  readonly circleFrom?: number;
}

export type Finding =
  | { readonly verdict: 'holds' }
  | { readonly verdict: 'broken'; readonly path: Path }
  | { readonly verdict: 'unknown'; readonly reason: string };

export interface SearchResult {
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
const MOST_TOKENS = 500;
/** What a property remembers is one 16-bit letter of the state's word. */
const MOST_REMEMBERED = 65_535;
/** What a state costs beside its letters: its entry in the table and its way back. */
const BYTES_PER_STATE = 120;
const BYTES_PER_EDGE = 8;

/**
 * Every state that can be reached, nearest first, so that the first break found is a shortest one. Several watches share
 * a search when at most one of them remembers something.
 */
export function search(
  steps: Steps,
  watches: readonly Watch[],
  limits: SearchLimits = {},
): SearchResult {
  return new Search(steps, watches, limits).run();
}

/** The markings that can be reached, as `markingWord` writes them; undefined when there are too many. */
export function exploredMarkings(
  steps: Steps,
  limits: SearchLimits = {},
): ReadonlySet<string> | undefined {
  const search = new Search(steps, [], limits);
  return search.run().complete ? search.markings() : undefined;
}

/** A marking apart from how it came about: attempts, phases and what may still come do not count. */
export function markingWord(steps: Steps, tokens: readonly number[]): string {
  const bare = tokens.map((code) => steps.alphabet.at(code, 0));
  const none = { phase: 0, faults: 0, environment: [] };
  return String.fromCharCode(...canonical({ ...none, tokens: bare }, steps).tokens);
}

class Search {
  readonly #steps: Steps;
  readonly #watches: readonly Watch[];
  readonly #limits: Required<SearchLimits>;
  readonly #remembering: Watch | undefined;
  readonly #ids = new Map<string, number>();
  readonly #words: string[] = [];
  readonly #parents: number[] = [];
  /** Which move of its parent led to a state. */
  readonly #ordinals: number[] = [];
  readonly #findings: (Finding | undefined)[];
  readonly #header: number;
  readonly #graph: Graph | undefined;
  #open: number;
  #bytes = 0;
  #longest = 0;

  constructor(steps: Steps, watches: readonly Watch[], limits: SearchLimits) {
    this.#steps = steps;
    this.#watches = watches;
    this.#limits = {
      states: limits.states ?? DEFAULT_STATES,
      memoryBytes: limits.memoryBytes ?? DEFAULT_MEMORY_BYTES,
      searchTimeoutMs: limits.searchTimeoutMs ?? DEFAULT_SEARCH_TIMEOUT_MS,
    };
    const remembering = watches.filter((watch) => watch.next !== undefined);
    if (remembering.length > 1) throw new RangeError('one search can remember for one watch only');
    this.#remembering = remembering[0];
    this.#findings = watches.map(() => undefined);
    this.#open = watches.length;
    this.#header = 3 + steps.net.environment.length;
    if (this.#remembering?.isOpen !== undefined) this.#graph = { from: [], to: [] };
  }

  run(): SearchResult {
    const gaveUp = this.#explore();
    if (gaveUp === undefined && this.#open > 0) this.#seekCircle();
    const reason = gaveUp ?? '';
    return {
      findings: this.#findings.map(
        (finding): Finding =>
          finding ?? (gaveUp === undefined ? { verdict: 'holds' } : { verdict: 'unknown', reason }),
      ),
      states: this.#words.length,
      complete: gaveUp === undefined && (this.#open > 0 || this.#watches.length === 0),
    };
  }

  /** Goes through all states, or says which limit was passed. */
  #explore(): string | undefined {
    const endsAt = performance.now() + this.#limits.searchTimeoutMs;
    try {
      this.#enter(this.#steps.initial(), this.#remembering?.initial ?? 0, -1, 0);
      for (let id = 0; id < this.#words.length; id++) {
        this.#expand(id);
        if (this.#open === 0 && this.#watches.length > 0) return undefined;
        const gaveUp = this.#exceeded(endsAt);
        if (gaveUp !== undefined) return gaveUp;
      }
      return undefined;
    } catch (error) {
      if (error instanceof SearchLimitError) return error.limit;
      throw error;
    }
  }

  /** Which limit was passed. */
  #exceeded(endsAt: number): string | undefined {
    const { states, memoryBytes, searchTimeoutMs } = this.#limits;
    if (this.#words.length > states) return `more than ${states} states`;
    if (this.#bytes > memoryBytes) return `more than ${Math.round(memoryBytes / 1e6)} MB of states`;
    if (this.#longest > MOST_TOKENS) return `more than ${MOST_TOKENS} tokens in one marking`;
    return performance.now() > endsAt
      ? `more than ${searchTimeoutMs / 1000} s of search`
      : undefined;
  }

  markings(): ReadonlySet<string> {
    return new Set(this.#words.map((word) => markingWord(this.#steps, this.#state(word).tokens)));
  }

  #expand(id: number): void {
    const word = this.#words[id] ?? '';
    const memory = word.charCodeAt(1);
    const state = this.#state(word);
    const { moves, view, isQuiet, isStuck } = this.#steps.look(state);
    this.#watches.forEach((watch, index) => {
      if (this.#findings[index] === undefined && watch.isBroken(view, memory, isStuck))
        this.#found(index, id, undefined);
    });
    if (isQuiet && (state.phase & SETTLING) !== 0) {
      // At rest, it makes no difference any more how the net came here.
      const rested = String.fromCharCode(state.phase & ~SETTLING) + word.slice(1);
      if (this.#ids.has(rested)) {
        this.#graph?.from.push(this.#graph.to.length);
        // The same state under another number: a circle may close through it.
        this.#graph?.to.push(this.#ids.get(rested) ?? 0);
        return;
      }
      this.#ids.set(rested, id);
      this.#words[id] = rested;
    }
    this.#graph?.from.push(this.#graph.to.length);
    const watch = this.#remembering;
    for (let ordinal = 0; ordinal < moves.length; ordinal++) {
      const move = moves[ordinal];
      if (move === undefined) continue;
      let after = memory;
      if (watch?.next !== undefined) {
        after = watch.next(memory, state, move);
        if (after === BROKEN_BY_STEP) {
          const index = this.#watches.indexOf(watch);
          if (this.#findings[index] === undefined) this.#found(index, id, move);
          continue;
        }
      }
      const to = this.#enter(this.#steps.after(state, move), after, id, ordinal);
      // Closing and opening for ever is no run of a net.
      const isOwnership = move.kind === 'draining' || move.kind === 'owned';
      if (
        watch?.isOpen !== undefined &&
        !isOwnership &&
        watch.isOpen(memory) &&
        watch.isOpen(after)
      )
        this.#edge(to);
    }
  }

  #edge(to: number): void {
    this.#graph?.to.push(to);
    this.#bytes += BYTES_PER_EDGE;
  }

  #enter(state: State, memory: number, parent: number, ordinal: number): number {
    if (memory > MOST_REMEMBERED)
      throw new SearchLimitError(`a property that counts beyond ${MOST_REMEMBERED}`);
    const word = String.fromCharCode(
      state.phase,
      memory,
      state.faults,
      ...state.environment,
      ...state.tokens,
    );
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const id = this.#words.length;
    this.#ids.set(word, id);
    this.#words.push(word);
    this.#parents.push(parent);
    this.#ordinals.push(ordinal);
    this.#bytes += BYTES_PER_STATE + word.length;
    this.#longest = Math.max(this.#longest, state.tokens.length);
    return id;
  }

  #state(word: string): State {
    const environment: number[] = [];
    for (let index = 3; index < this.#header; index++) environment.push(word.charCodeAt(index));
    const tokens: number[] = [];
    for (let index = this.#header; index < word.length; index++)
      tokens.push(word.charCodeAt(index));
    return { phase: word.charCodeAt(0), faults: word.charCodeAt(2), environment, tokens };
  }

  #found(index: number, id: number, last: Move | undefined): void {
    this.#findings[index] = { verdict: 'broken', path: this.#path(id, last) };
    this.#open--;
  }

  /** The way to a state, and one step more. */
  #path(id: number, last: Move | undefined): Path {
    const ids: number[] = [];
    for (let at = id; at >= 0; at = this.#parents[at] ?? -1) ids.unshift(at);
    const states = ids.map((at) => this.#state(this.#words[at] ?? ''));
    const moves = ids.slice(1).map((at, index) => this.#move(states[index], at));
    const end = states.at(-1);
    if (last === undefined || end === undefined) return { states, moves };
    return { states: [...states, this.#steps.after(end, last)], moves: [...moves, last] };
  }

  #move(from: State | undefined, to: number): Move {
    const move = from && this.#steps.look(from).moves[this.#ordinals[to] ?? 0];
    if (move === undefined) throw new RangeError('a state lost its way back');
    return move;
  }

  #seekCircle(): void {
    const watch = this.#remembering;
    if (this.#graph === undefined || watch === undefined) return;
    const circle = circleIn(this.#graph);
    const [first] = circle ?? [];
    if (circle === undefined || first === undefined) return;
    const stem = this.#path(first, undefined);
    const states = [...stem.states];
    const moves = [...stem.moves];
    for (const next of [...circle.slice(1), first]) {
      const from = states.at(-1);
      const target = this.#words[next] ?? '';
      const found =
        from && this.#steps.look(from).moves.find((move) => this.#leads(from, move, target));
      if (from === undefined) return;
      // A step to a state under another number is no step.
      if (found === undefined) continue;
      states.push(this.#steps.after(from, found));
      moves.push(found);
    }
    this.#findings[this.#watches.indexOf(watch)] = {
      verdict: 'broken',
      path: { states, moves, circleFrom: stem.states.length - 1 },
    };
    this.#open--;
  }

  #leads(from: State, move: Move, target: string): boolean {
    const { phase, faults, environment, tokens } = this.#steps.after(from, move);
    return (
      String.fromCharCode(phase) === target.slice(0, 1) &&
      String.fromCharCode(faults, ...environment, ...tokens) === target.slice(2)
    );
  }
}
