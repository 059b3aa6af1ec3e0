import type { ExpandedOutput } from '../system/expand.ts';
import { counterName } from './terms.ts';
import type { Term } from './terms.ts';

/** The effect of one step on the counters. */
export interface CounterEffects {
  /** The free variables, such as the number of tokens of an `upTo` output. */
  readonly free: readonly string[];
  /** By place: the number of tokens after the step. Absent for unchanged places. */
  readonly after: ReadonlyMap<number, Term>;
  /** By place: the number of tokens that leave it. */
  readonly taken: ReadonlyMap<number, Term>;
  /** By name of a place or outlet: the number of tokens that enter it. */
  readonly given: ReadonlyMap<string, Term>;
  /** The change as vectors over places: a fixed part, and one vector for each number that is not constant. */
  readonly fixed: ReadonlyMap<number, number>;
  readonly varying: readonly ReadonlyMap<number, number>[];
}

/** Collects the change of the counters in one step. */
export class CounterChange {
  readonly #sums = new Map<number, Term[]>();
  readonly #emptied = new Set<number>();
  readonly #fixed = new Map<number, number>();
  readonly #varying: ReadonlyMap<number, number>[] = [];
  readonly #free: string[] = [];
  readonly #taken = new Map<number, Term>();
  readonly #given = new Map<string, Term>();
  /** By place: tokens that enter without an output arc: a firing, a fault, or an input from outside. */
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

  /** @param like the place whose tokens are all taken, if the number of tokens is equal to theirs. */
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

  /** All tokens of an emptied place move to another place: one vector for both changes. */
  #likeTaken(place: number, like: number): void {
    const index = this.#varying.findIndex((vector) => vector.get(like) !== undefined);
    const vector = new Map(this.#varying[index] ?? [[like, 1]]);
    vector.set(place, (vector.get(place) ?? 0) - 1);
    if (index >= 0) this.#varying[index] = vector;
    else this.#varying.push(vector);
  }

  result(placeName: (place: number) => string): CounterEffects {
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
