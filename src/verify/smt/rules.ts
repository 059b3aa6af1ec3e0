import { UNLIMITED } from '../properties/bounds.ts';
import type {
  ExpandedInput,
  ExpandedNet,
  ExpandedOutput,
  ExpandedTransition,
} from '../system/expand.ts';

/** Whole-number terms and conditions of SMT-LIB. */
export type Term = string;

/** One kind of step, for any number of tokens. */
export interface Rule {
  readonly label: string;
  /** The transition that fires or starts by it; -1 when none does. */
  readonly begins: number;
  readonly guards: readonly Term[];
  /** Numbers that are free in it: how many tokens an `upTo` gives. */
  readonly free: readonly string[];
  /** By place: what it holds afterwards; absent when unchanged. */
  readonly after: ReadonlyMap<number, Term>;
  /** By place: how many tokens leave it. */
  readonly taken: ReadonlyMap<number, Term>;
  /** By place or outlet name: how many tokens it gives. */
  readonly given: ReadonlyMap<string, Term>;
  /** What it changes, as vectors over places: a fixed part, and one for each number that is free or as there happen to be. */
  readonly fixed: ReadonlyMap<number, number>;
  readonly varying: readonly ReadonlyMap<number, number>[];
}

/**
 * The steps of the expanded net with counters instead of tokens: any number of tokens from outside, any number of
 * faults, every declared multiplicity. Keys, ages and phases are left out, so it can do more than the net, never less.
 */
export function toRules(net: ExpandedNet, boundedEnvironment: boolean): readonly Rule[] {
  return new Rules(net, boundedEnvironment).all();
}

/** The counter of a place. */
export function counter(place: number): Term {
  return `p${place}`;
}

/** The counter of what may still come from outside. */
export function outside(index: number): number {
  return -1 - index;
}

class Rules {
  readonly #net: ExpandedNet;
  readonly #bounded: boolean;

  constructor(net: ExpandedNet, bounded: boolean) {
    this.#net = net;
    this.#bounded = bounded;
  }

  all(): readonly Rule[] {
    return [
      ...this.#net.environment.map(({ place }, index) => this.#injection(place, index)),
      ...this.#net.transitions.flatMap((t) => [
        ...(t.timed === 'never' ? [] : this.#firings(t)),
        ...this.#broken(t),
        ...this.#ends(t),
      ]),
    ];
  }

  #injection(place: number, index: number): Rule {
    const change = new Change();
    change.add(place, 1);
    const guards: Term[] = [];
    if (this.#bounded) {
      guards.push(`(> ${counterName(outside(index))} 0)`);
      change.add(outside(index), -1);
    }
    return this.#rule(`injected ${this.#name(place)}`, -1, guards, change);
  }

  #firings(t: ExpandedTransition): readonly Rule[] {
    const guards = [...enabled(t), ...this.#priorityGuards(t)];
    const rules: Rule[] = [];
    if (t.kind === 'effect') {
      const change = this.#consume(t, true);
      change.add(t.running, 1);
      rules.push(this.#rule(`started ${t.name}`, t.index, guards, change));
    } else {
      for (const { name, outputs } of t.alternatives) {
        const change = this.#consume(t, true);
        const limits = outputs.map((output, at) => this.#give(change, output, at, t));
        rules.push(
          this.#rule(`fired ${t.name} ${name}`, t.index, [...guards, ...limits.flat()], change),
        );
      }
    }
    return [
      ...rules,
      ...this.#faults(`faulted ${t.name}`, guards, () => this.#consume(t, false), t.takes),
    ];
  }

  /** A key function throws: a fault that holds one token. */
  #broken(t: ExpandedTransition): readonly Rule[] {
    return t.takes
      .filter(({ slot }) => slot >= 0)
      .flatMap((input) => {
        const guards = [...permitted(t), atLeast(input.place, 1)];
        const change = (): Change => new Change().add(input.place, -1);
        const taken = [{ ...input, mode: 'one' as const, count: 1 }];
        return this.#faults(`faulted ${t.name} key`, guards, change, taken);
      });
  }

  #ends(t: ExpandedTransition): readonly Rule[] {
    if (t.running < 0) return [];
    const guards = [atLeast(t.running, 1)];
    const ended = t.alternatives.map(({ name, outputs }) => {
      const change = new Change().add(t.running, -1);
      const limits = outputs.map((output, at) => this.#give(change, output, at, t));
      return this.#rule(`ended ${t.name} ${name}`, -1, [...guards, ...limits.flat()], change);
    });
    const change = (): Change => new Change().add(t.running, -1);
    const taken = [{ place: t.running, mode: 'one' as const, count: 1, slot: -1 }];
    return [...ended, ...this.#faults(`faulted running ${t.name}`, guards, change, taken)];
  }

  /** To `net.fault`, or past it when the firing held a fault already; both when that cannot be told. */
  #faults(
    label: string,
    guards: readonly Term[],
    change: () => Change,
    taken: readonly ExpandedInput[],
  ): readonly Rule[] {
    if (this.#net.faults === 0) return [];
    const holds = taken.map((input) => this.#holdsFault(input));
    const places = holds.includes('surely')
      ? [this.#net.unhandledFault]
      : holds.includes('maybe')
        ? [this.#net.fault, this.#net.unhandledFault]
        : [this.#net.fault];
    return places.map((place) => this.#rule(label, -1, guards, change().add(place, 1)));
  }

  #holdsFault({ place, count }: ExpandedInput): 'surely' | 'maybe' | 'no' {
    if (place === this.#net.fault) return count > 0 ? 'surely' : 'maybe';
    const effect = this.#net.transitions[this.#net.places[place]?.effect ?? -1];
    const input = effect?.takes.find((take) => take.place === this.#net.fault);
    if (input === undefined) return 'no';
    return input.count > 0 && count > 0 ? 'surely' : 'maybe';
  }

  #consume(t: ExpandedTransition, resets: boolean): Change {
    const change = new Change();
    for (const { place, mode, count } of t.takes) {
      if (mode === 'all') change.empty(place);
      else change.add(place, -count);
    }
    if (resets) for (const place of t.resets) change.empty(place);
    return change;
  }

  /** Adds an output; returns what limits its number. */
  #give(
    change: Change,
    output: ExpandedOutput,
    at: number,
    t: ExpandedTransition,
  ): readonly Term[] {
    if (output.each >= 0) {
      const input = t.takes[output.each];
      if (input === undefined) return [];
      if (input.mode !== 'all') {
        change.give(output, String(input.count), input.count);
        return [];
      }
      if (t.kind === 'pure') {
        change.give(output, counter(input.place), undefined, input.place);
        return [];
      }
      // What a firing took is not counted: it may have been any number.
      const free = change.free(at);
      change.give(output, free, undefined);
      return [`(>= ${free} ${input.count})`];
    }
    if (output.min === output.declared) {
      change.give(output, String(output.min), output.min);
      return [];
    }
    const free = change.free(at);
    change.give(output, free, undefined);
    return [`(>= ${free} ${output.min})`, `(<= ${free} ${output.declared})`];
  }

  /** What is of higher priority goes first, unless keys decide or it is an effect and the owner may be closing. */
  #priorityGuards(t: ExpandedTransition): readonly Term[] {
    return this.#net.transitions
      .filter(
        (other) =>
          other.timed === 'no' &&
          !other.keyed &&
          (t.timed !== 'no' || other.priority > t.priority) &&
          !(other.kind === 'effect' && this.#net.bounds.shutdowns),
      )
      .map((other) => `(not ${conjunction(enabled(other))})`);
  }

  #rule(label: string, begins: number, guards: readonly Term[], change: Change): Rule {
    return { label, begins, guards, ...change.result((place) => this.#name(place)) };
  }

  #name(place: number): string {
    return this.#net.places[place]?.name ?? '';
  }
}

/** What happens to the counters in one step. */
class Change {
  readonly #sums = new Map<number, Term[]>();
  readonly #emptied = new Set<number>();
  readonly #fixed = new Map<number, number>();
  readonly #varying: ReadonlyMap<number, number>[] = [];
  readonly #free: string[] = [];
  readonly #taken = new Map<number, Term>();
  readonly #given = new Map<string, Term>();
  /** Tokens that come by no output: a firing, a fault, an input from outside. */
  readonly #gained = new Map<number, number>();

  add(place: number, tokens: number): this {
    this.#term(place, String(tokens));
    if (tokens > 0) this.#gained.set(place, (this.#gained.get(place) ?? 0) + tokens);
    this.#fixed.set(place, (this.#fixed.get(place) ?? 0) + tokens);
    if (tokens < 0 && !this.#emptied.has(place)) this.#taken.set(place, String(-tokens));
    return this;
  }

  empty(place: number): this {
    this.#emptied.add(place);
    this.#sums.delete(place);
    this.#fixed.delete(place);
    this.#taken.set(place, counterName(place));
    this.#varying.push(new Map([[place, 1]]));
    return this;
  }

  free(at: number): string {
    const name = `k${at}`;
    this.#free.push(name);
    return name;
  }

  /** `like`: as many as were in that place, all of which are taken. */
  give(
    { place, name }: ExpandedOutput,
    tokens: Term,
    fixed: number | undefined,
    like?: number,
  ): void {
    const before = this.#given.get(name);
    this.#given.set(name, before === undefined ? tokens : `(+ ${before} ${tokens})`);
    if (place < 0) return;
    this.#term(place, tokens);
    if (fixed !== undefined) this.#fixed.set(place, (this.#fixed.get(place) ?? 0) + fixed);
    else if (like === undefined) this.#varying.push(new Map([[place, 1]]));
    else this.#likeTaken(place, like);
  }

  /** The tokens of an emptied place come to another: a vector of its own, and not the emptying alone. */
  #likeTaken(place: number, like: number): void {
    const index = this.#varying.findIndex((vector) => vector.get(like) !== undefined);
    const vector = new Map(this.#varying[index] ?? [[like, 1]]);
    vector.set(place, (vector.get(place) ?? 0) - 1);
    if (index >= 0) this.#varying[index] = vector;
    else this.#varying.push(vector);
  }

  result(
    placeName: (place: number) => string,
  ): Pick<Rule, 'after' | 'taken' | 'given' | 'free' | 'fixed' | 'varying'> {
    const after = new Map<number, Term>();
    for (const place of new Set([...this.#sums.keys(), ...this.#emptied])) {
      const terms = [
        ...(this.#emptied.has(place) ? [] : [counterName(place)]),
        ...(this.#sums.get(place) ?? []),
      ];
      after.set(
        place,
        terms.length === 0
          ? '0'
          : terms.length === 1
            ? (terms[0] ?? '0')
            : `(+ ${terms.join(' ')})`,
      );
    }
    const given = new Map(this.#given);
    for (const [place, tokens] of this.#gained) {
      const before = given.get(placeName(place));
      given.set(
        placeName(place),
        before === undefined ? String(tokens) : `(+ ${before} ${tokens})`,
      );
    }
    return {
      after,
      taken: this.#taken,
      given,
      free: this.#free,
      fixed: this.#fixed,
      varying: this.#varying,
    };
  }

  #term(place: number, term: Term): void {
    const terms = this.#sums.get(place) ?? [];
    terms.push(term.startsWith('-') ? `(- ${term.slice(1)})` : term);
    this.#sums.set(place, terms);
  }
}

export function counterName(place: number): Term {
  return place >= 0 ? counter(place) : `e${-1 - place}`;
}

/** All that lets `t` fire, but for its inputs. */
function permitted(t: ExpandedTransition): readonly Term[] {
  return [
    ...t.unless.map((place) => `(= ${counter(place)} 0)`),
    ...(t.running >= 0 && Number.isFinite(t.concurrency)
      ? [`(< ${counter(t.running)} ${t.concurrency})`]
      : []),
    ...t.reads.filter(({ count }) => count > 0).map(({ place, count }) => atLeast(place, count)),
  ];
}

/** When `t` can fire; keys and clocks left out. */
export function enabled(t: ExpandedTransition): readonly Term[] {
  return [
    ...permitted(t),
    ...t.takes.filter(({ count }) => count > 0).map(({ place, count }) => atLeast(place, count)),
  ];
}

export function conjunction(terms: readonly Term[]): Term {
  if (terms.length === 0) return 'true';
  return terms.length === 1 ? (terms[0] ?? 'true') : `(and ${terms.join(' ')})`;
}

function atLeast(place: number, tokens: number): Term {
  return `(>= ${counter(place)} ${tokens})`;
}

/** True when the search counts its faults; a solver allows any number. */
export function limitsFaults({ faults }: ExpandedNet): boolean {
  return faults !== UNLIMITED && faults > 0;
}
