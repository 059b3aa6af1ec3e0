import { UNLIMITED } from '../properties/bounds.ts';
import { isCountedKind } from './child-activity.ts';
import type { ChildActivity, CountedKind } from './child-activity.ts';
import { listMoves } from './view.ts';
import type { MoveInput, MoveNeeds, View, ViewMove, ViewSum } from './view.ts';
import { ViewSymmetry } from './view-symmetry.ts';

/** What a monitor may read of the states before and after a move. */
export interface ViewStepFacts {
  /** The name of the state of an observed contract, by position. */
  readonly stateBefore: (contract: number) => string;
  readonly stateAfter: (contract: number) => string;
  /** The tokens of a place of the view after the move. */
  readonly countAfter: (place: number) => number;
}

/** A property of a view's search. Its memory changes with the moves that it watches. */
export interface ViewMonitor {
  readonly initial: number;
  /** Returns the memory after a move, or a negative number if the move violates the property. */
  readonly next: (
    memory: number,
    move: ViewMove,
    removed: (place: number) => boolean,
    facts: ViewStepFacts,
  ) => number;
}

/** What a search of a view looks for. */
export interface ViewQuestion {
  /** Returns true for a marking that violates a property, by the position of the place in the view. */
  readonly isViolated?: (count: (place: number) => number) => boolean;
  readonly monitor?: ViewMonitor;
  /** Which states to return. Default: those in which the net may have stopped. */
  readonly collects?: (count: (place: number) => number) => boolean;
  /** The positions of the places that `isViolated`, `monitor` and `collects` look at. */
  readonly asked: readonly number[];
}

/** A state of a view that a search returns. */
export interface ViewState {
  readonly counts: readonly number[];
  /** By observed contract: the name of its state. */
  readonly contracts: readonly string[];
  /** Moves that can run unless one of these places is marked, as positions in `View.outside`. */
  readonly unlessMarked: readonly (readonly number[])[];
}

/** The result of a search of a view. */
export interface ViewOutcome {
  /** Why the search ended early: a promise or the property may be broken, or there are too many states. */
  readonly problem: string | undefined;
  readonly states: number;
  /** One of the states that differ only in an exchange of equal children. `symmetry.expand` returns the others. */
  readonly collected: readonly ViewState[];
  readonly symmetry: ViewSymmetry;
  /** The moves that happened in some state, as positions in `listMoves`. */
  readonly moved: ReadonlySet<number>;
  /** By kind: the states of the component's own contract in which a counted step inside the component happens. */
  readonly firesIn: ChildActivity['firesIn'];
  /** The greatest memory of the monitor. */
  readonly mostMemory: number;
}

/** The limits of a search of a view. */
export interface ViewLimits {
  readonly states: number;
  readonly endsAt: number;
  readonly signal?: AbortSignal | undefined;
}

/** A state is a list: phase, faults, memory, tokens from outside, sums, states of contracts, tokens. */
const HEADER = 3;
const MAX_MEMORY = 10_000;
/** A sum from -1 to 1 is a number of a state from 1 on; any other sum is 0. */
const MOST_SUM = 1;
const ANY_SUM = 0;

/** Visits all states of a view, as long as no promise is broken. */
export function searchView(view: View, question: ViewQuestion, limits: ViewLimits): ViewOutcome {
  return new ViewSearch(view, question, limits).run();
}

class ViewSearch {
  readonly #view: View;
  readonly #question: ViewQuestion;
  readonly #limits: ViewLimits;
  readonly #known = new Set<string>();
  readonly #open: (readonly number[])[] = [];
  readonly #sumsAt: number;
  readonly #contractsAt: number;
  readonly #countsAt: number;
  readonly #stateNames: readonly (readonly string[])[];
  readonly #collected: ViewState[] = [];
  readonly #moved = new Set<ViewMove>();
  /** By observed contract: the next state by state and event; -1 for none. */
  readonly #tables: readonly (readonly (readonly number[])[])[];
  /** The positions of observed contracts in the order in which their promises count. */
  readonly #order: readonly { readonly contract: number; readonly side: string }[];
  readonly #symmetry: ViewSymmetry;
  /** The position of the component's own contract; -1 for the core. */
  readonly #own: number;
  readonly #firesIn = new Map<CountedKind, Set<string>>();
  #mostMemory: number;
  #problem: string | undefined;

  constructor(view: View, question: ViewQuestion, limits: ViewLimits) {
    this.#view = view;
    this.#question = question;
    this.#limits = limits;
    this.#sumsAt = HEADER + view.environment.length;
    this.#contractsAt = this.#sumsAt + view.sums.length;
    this.#countsAt = this.#contractsAt + view.contracts.length;
    this.#symmetry = new ViewSymmetry(view, new Set([...question.asked, ...listSpecial(view)]));
    this.#own = view.contracts.findIndex(({ checks }) => checks === 'component');
    this.#mostMemory = question.monitor?.initial ?? 0;
    this.#stateNames = view.contracts.map(({ contract }) => Object.keys(contract.steps));
    this.#tables = view.contracts.map(({ contract }, index) => {
      const names = this.#stateNames[index] ?? [];
      return names.map((name) =>
        contract.events.map((event) => names.indexOf(contract.steps[name]?.[event.name] ?? '')),
      );
    });
    // A step may break several promises. Deeper components count first, then their environments from the core down: so
    // each step is judged by the view that checks the first promise it breaks.
    const all = view.contracts.map(({ depth }, contract) => ({ depth, contract }));
    this.#order = [
      ...all
        .toSorted((a, b) => b.depth - a.depth)
        .map(({ contract }) => ({ contract, side: 'component' })),
      ...all
        .toSorted((a, b) => a.depth - b.depth)
        .map(({ contract }) => ({ contract, side: 'environment' })),
    ];
  }

  run(): ViewOutcome {
    const view = this.#view;
    this.#visit([
      0,
      view.faults,
      this.#question.monitor?.initial ?? 0,
      ...view.environment,
      ...view.sums.map(({ initial }) => toNumber(initial)),
      ...view.contracts.map(({ contract }, index) =>
        (this.#stateNames[index] ?? []).indexOf(contract.initial),
      ),
      ...view.initial.map((count, place) => Math.min(count, view.caps[place] ?? 1)),
    ]);
    for (let state = this.#open.pop(); state !== undefined; state = this.#open.pop()) {
      this.#expand(state);
      if (this.#problem !== undefined) break;
      if (this.#known.size > this.#limits.states) {
        this.#problem = `more than ${this.#limits.states} states`;
        break;
      }
      if (this.#limits.signal?.aborted === true || performance.now() > this.#limits.endsAt) {
        this.#problem = 'the search ran out of time';
        break;
      }
    }
    const moved = listMoves(view).flatMap((move, index) => (this.#moved.has(move) ? [index] : []));
    return {
      problem: this.#problem,
      states: this.#known.size,
      collected: this.#collected,
      symmetry: this.#symmetry,
      moved: this.#symmetry.close(new Set(moved)),
      firesIn: Object.fromEntries(
        [...this.#firesIn].map(([kind, states]) => [kind, [...states].toSorted()]),
      ),
      mostMemory: this.#mostMemory,
    };
  }

  #visit(found: readonly number[]): void {
    const state = [...found];
    this.#symmetry.sort(state, this.#contractsAt, this.#countsAt);
    const key = String.fromCharCode(...state);
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#open.push(state);
  }

  #expand(state: readonly number[]): void {
    const { now, arrivals, timers, running } = this.#view;
    const count = (place: number): number => state[this.#countsAt + place] ?? 0;
    if (this.#question.isViolated?.(count) === true) {
      this.#problem = 'a marking violates the property';
      return;
    }
    if (this.#question.collects?.(count) === true) this.#collect(state, []);
    let isCertain = false;
    let mayRest = true;
    const unlessMarked: (readonly number[])[] = [];
    const note = ({ prevents, ifEmpty }: ViewMove): void => {
      if (prevents) mayRest = false;
      else if (ifEmpty !== undefined && ifEmpty.length > 0) unlessMarked.push(ifEmpty);
    };
    for (const group of now) {
      for (const move of group) {
        const enabled = this.#isEnabled(move, state);
        if (enabled === 'no') continue;
        this.#apply(move, state, 1);
        if (enabled === 'maybe') continue;
        isCertain ||= move.isCertain;
        note(move);
      }
      if (isCertain) break;
    }
    // While a transition is certain to fire, only a state that was not settling takes more from outside.
    if (isCertain && state[0] === 1) return;
    for (const move of arrivals)
      if (this.#isEnabled(move, state) !== 'no') this.#apply(move, state, 0);
    if (isCertain) return;
    for (const move of timers) {
      const enabled = this.#isEnabled(move, state);
      if (enabled === 'no') continue;
      this.#apply(move, state, 1);
      if (enabled === 'yes') note(move);
    }
    if (this.#question.collects === undefined && mayRest)
      if (running.every((place) => count(place) === 0) && !this.#hasTakers(state))
        this.#collect(state, unlessMarked);
  }

  /** True if some group has tokens, and wherever they are, something happens to them. */
  #hasTakers(state: readonly number[]): boolean {
    return this.#view.groups.some(
      ({ place, takers }) =>
        (state[this.#countsAt + place] ?? 0) > 0 &&
        takers.every((needs) => needs.some((one) => this.#areMet(one, state) === 'yes')),
    );
  }

  #collect(state: readonly number[], unlessMarked: readonly (readonly number[])[]): void {
    this.#collected.push({
      counts: state.slice(this.#countsAt),
      contracts: this.#stateNames.map(
        (names, index) => names[state[this.#contractsAt + index] ?? 0] ?? '',
      ),
      unlessMarked,
    });
  }

  /** `maybe`: it depends on how many tokens a place has beyond its cap. */
  #isEnabled(move: ViewMove, state: readonly number[]): 'no' | 'maybe' | 'yes' {
    if (move.faults > 0 && state[1] === 0) return 'no';
    if (move.environment >= 0 && state[HEADER + move.environment] === 0) return 'no';
    return this.#areMet(move, state);
  }

  #areMet(needs: MoveNeeds, state: readonly number[]): 'no' | 'maybe' | 'yes' {
    const have = (place: number): number => state[this.#countsAt + place] ?? 0;
    const isCapped = (place: number): boolean => have(place) >= (this.#view.caps[place] ?? 1);
    let isSure = true;
    for (const { place, most } of needs.takes)
      if (most !== undefined && have(place) > most) return 'no';
    for (const inputs of [needs.takes, needs.reads])
      for (const { place, count } of inputs) {
        if (have(place) >= count) continue;
        if (!isCapped(place)) return 'no';
        isSure = false;
      }
    for (const place of needs.unless) if (have(place) > 0) return 'no';
    if (needs.limit !== undefined) {
      const [place, max] = needs.limit;
      if (have(place) >= max) return 'no';
      if (isCapped(place)) isSure = false;
    }
    return isSure ? 'yes' : 'maybe';
  }

  #apply(move: ViewMove, state: readonly number[], phase: number): void {
    if (!this.#fitsActivity(move, state)) return;
    const contracts = this.#stepContracts(move, state);
    if (contracts === undefined) return;
    this.#moved.add(move);
    this.#noteOwnState(move, state);
    const at = this.#countsAt;
    const base = [...state];
    base[0] = phase;
    if (move.faults > 0 && base[1] !== UNLIMITED) base[1] = (base[1] ?? 0) - move.faults;
    if (move.environment >= 0) {
      const index = HEADER + move.environment;
      base[index] = (base[index] ?? 0) - 1;
    }
    contracts.forEach((next, index) => {
      base[this.#contractsAt + index] = next;
    });
    const { caps } = this.#view;
    const finish = (counts: number[], taken: readonly number[]): void => {
      for (const place of move.resets) counts[at + place] = 0;
      for (const { place, count, each } of move.gives)
        counts[at + place] = Math.min(
          caps[place] ?? 1,
          (counts[at + place] ?? 0) + (each < 0 ? count : (taken[each] ?? 0)),
        );
      if (!this.#followSums(move, state, counts)) return;
      const { monitor } = this.#question;
      if (monitor !== undefined) {
        const removed = (place: number): boolean =>
          move.takes.some((input, index) => input.place === place && (taken[index] ?? 0) > 0) ||
          (move.resets.includes(place) && (state[at + place] ?? 0) > 0);
        const memory = monitor.next(state[2] ?? 0, move, removed, {
          stateBefore: (contract) => this.#stateName(contract, state),
          stateAfter: (contract) => this.#stateName(contract, counts),
          countAfter: (place) => counts[at + place] ?? 0,
        });
        if (memory < 0 || memory > MAX_MEMORY) {
          this.#problem = `"${move.name}" violates the property`;
          return;
        }
        counts[2] = memory;
        this.#mostMemory = Math.max(this.#mostMemory, memory);
      }
      this.#visit(counts);
    };
    const take = (index: number, counts: number[], taken: readonly number[]): void => {
      const input = move.takes[index];
      if (input === undefined) {
        finish(counts, taken);
        return;
      }
      const have = counts[at + input.place] ?? 0;
      for (const [takes, left] of ways(input, have, caps[input.place] ?? 1)) {
        const after = [...counts];
        after[at + input.place] = left;
        take(index + 1, after, [...taken, takes]);
      }
    };
    take(0, base, []);
  }

  /** False for a counted step inside a child that does not happen in this state of the child's contract. */
  #fitsActivity({ watched, within }: ViewMove, state: readonly number[]): boolean {
    return within.every((contract) => {
      const activity = this.#view.contracts[contract]?.activity;
      if (activity === undefined) return true;
      const own = this.#stateName(contract, state);
      return watched
        .filter(isCountedKind)
        .every((kind) => activity.firesIn[kind]?.includes(own) === true);
    });
  }

  #noteOwnState({ watched, within }: ViewMove, state: readonly number[]): void {
    if (!within.includes(this.#own)) return;
    for (const kind of watched.filter(isCountedKind)) {
      const states = this.#firesIn.get(kind) ?? new Set();
      this.#firesIn.set(kind, states.add(this.#stateName(this.#own, state)));
    }
  }

  #stateName(contract: number, state: readonly number[]): string {
    return this.#stateNames[contract]?.[state[this.#contractsAt + contract] ?? 0] ?? '';
  }

  /**
   * Sets the sums after a move. Returns false if the counts contradict them: then no marking of the net has both, so the
   * net does not make this step.
   */
  #followSums(move: ViewMove, before: readonly number[], after: number[]): boolean {
    for (const [index, sum] of this.#view.sums.entries()) {
      const at = this.#sumsAt + index;
      const [least, most] = this.#boundSum(sum, after);
      const next = this.#nextSum(sum, move, move.changes[index], before, before[at] ?? ANY_SUM);
      if (next !== undefined && (next < least || next > most)) return false;
      after[at] = toNumber(next ?? (least === most ? least : undefined));
    }
    return true;
  }

  /** Returns a sum after a move; undefined if the counts do not tell. */
  #nextSum(
    { weights }: ViewSum,
    { takes, resets }: ViewMove,
    { gained, lost }: { readonly gained: number; readonly lost: number } = { gained: 0, lost: 0 },
    state: readonly number[],
    known: number,
  ): number | undefined {
    const have = (place: number): number => state[this.#countsAt + place] ?? 0;
    const empties = (place: number): boolean =>
      resets.includes(place) || takes.some((one) => one.mode === 'all' && one.place === place);
    const marked = weights.filter(({ place }) => have(place) > 0);
    if (marked.every(({ place }) => empties(place))) return gained;
    const isClear = marked.every(
      ({ place }) =>
        !empties(place) && !takes.some((one) => one.mode === 'some' && one.place === place),
    );
    return isClear && known !== ANY_SUM ? known - MOST_SUM - 1 + gained - lost : undefined;
  }

  /** The least and the greatest value that a sum may have with these counts. */
  #boundSum(
    { weights }: ViewSum,
    state: readonly number[],
  ): readonly [least: number, most: number] {
    let [low, high] = [0, 0];
    for (const { place, least, most } of weights) {
      const count = state[this.#countsAt + place] ?? 0;
      if (count === 0) continue;
      // A count at the cap means that many or more.
      const isCapped = count >= (this.#view.caps[place] ?? 1);
      low += isCapped && least < 0 ? Number.NEGATIVE_INFINITY : count * least;
      high += isCapped && most > 0 ? Number.POSITIVE_INFINITY : count * most;
    }
    return [low, high];
  }

  /** Returns the states of the contracts after a move; undefined if the move does not happen. */
  #stepContracts(move: ViewMove, state: readonly number[]): readonly number[] | undefined {
    const after: number[] = [];
    const broken = new Map<string, string>();
    this.#tables.forEach((table, index) => {
      let at = state[this.#contractsAt + index] ?? 0;
      for (const event of move.events[index] ?? []) {
        const next = table[at]?.[event] ?? -1;
        if (next < 0) {
          const declared = this.#view.contracts[index]?.contract.events[event];
          broken.set(
            `${index} ${declared?.promisedBy}`,
            `${declared?.name} in state ${this.#stateNames[index]?.[at]}`,
          );
          break;
        }
        at = next;
      }
      after.push(at);
    });
    if (broken.size === 0) return after;
    for (const { contract, side } of this.#order) {
      const what = broken.get(`${contract} ${side}`);
      if (what === undefined) continue;
      const { name, checks } = this.#view.contracts[contract] ?? {};
      if (checks === side)
        this.#problem = `"${move.name}" may break the contract of "${name}": ${what}`;
      return undefined;
    }
    return undefined;
  }
}

/** A sum as a number of a state. */
function toNumber(sum: number | undefined): number {
  return sum === undefined || Math.abs(sum) > MOST_SUM ? ANY_SUM : sum + MOST_SUM + 1;
}

/** The places that sums and groups look at. */
function listSpecial({ sums, groups }: View): readonly number[] {
  return [
    ...sums.flatMap(({ weights }) => weights.map(({ place }) => place)),
    ...groups.flatMap(({ takers }) =>
      takers
        .flat()
        .flatMap(({ takes, reads, unless, limit }) => [
          ...takes.map(({ place }) => place),
          ...reads.map(({ place }) => place),
          ...unless,
          ...(limit === undefined ? [] : [limit[0]]),
        ]),
    ),
  ];
}

/** How many tokens an input may take, and how many are left. A count at the cap means that many or more. */
function ways(
  { mode, count }: MoveInput,
  have: number,
  cap: number,
): readonly (readonly [takes: number, left: number])[] {
  if (mode === 'all') return [[have, 0]];
  const numbers = mode === 'count' ? [count] : range(Math.min(count, cap), have);
  return numbers.flatMap((takes) =>
    have < cap
      ? [[takes, have - takes] as const]
      : range(Math.max(0, cap - takes), cap).map((left) => [takes, left] as const),
  );
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) + 1 }, (_, index) => from + index);
}
