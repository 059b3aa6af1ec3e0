import type { TokenClasses } from './token-classes.ts';

/**
 * A marking and the budgets that decide what may follow. `tokens` are codes of token classes: in order of age in an
 * ordered search, sorted otherwise.
 */
export interface State {
  /** A set of the flags SETTLING and DRAINING. */
  readonly phase: number;
  /** The number of faults that may still happen. */
  readonly faults: number;
  /** By environment place: the number of tokens that may still enter. */
  readonly environment: readonly number[];
  readonly tokens: readonly number[];
}

/** A transition fired since the last input, so no input arrives until the net has settled. */
export const SETTLING = 1;
/** The owner is closing, so no effect starts. */
export const DRAINING = 2;

/** The tokens of a state, indexed by place. */
export class StateView {
  readonly counts: Int32Array;
  /** By place: the positions of its tokens in `State.tokens`. */
  readonly at: number[][];
  /** By domain: the highest key number in use, plus one. */
  readonly names: number[];
  /** The number of firings in flight. */
  firings = 0;

  constructor(places: number, domains: number) {
    this.counts = new Int32Array(places);
    this.at = Array.from({ length: places }, () => []);
    this.names = Array.from({ length: domains }, () => 0);
  }

  read(
    state: State,
    tokenClasses: TokenClasses,
    places: readonly { readonly domains: readonly number[]; readonly effect: number }[],
  ): void {
    for (const positions of this.at) positions.length = 0;
    this.names.fill(0);
    this.firings = 0;
    const { tokens } = state;
    for (let position = 0; position < tokens.length; position++) {
      const { place, names } = tokenClasses.get(tokens[position] ?? 0);
      this.at[place]?.push(position);
      const info = places[place];
      if (info === undefined) continue;
      if (info.effect >= 0) this.firings++;
      for (let slot = 0; slot < names.length; slot++) {
        const domain = info.domains[slot] ?? 0;
        this.names[domain] = Math.max(this.names[domain] ?? 0, (names[slot] ?? 0) + 1);
      }
    }
    for (let place = 0; place < this.at.length; place++)
      this.counts[place] = this.at[place]?.length ?? 0;
  }

  count(place: number): number {
    return this.counts[place] ?? 0;
  }
}
