import type { TokenClasses } from './token-classes.ts';

/**
 * A marking and what decides how it goes on. `tokens` are letters: in the order of their age when the search keeps
 * ages, else sorted.
 */
export interface State {
  readonly phase: number;
  /** Faults that may still happen. */
  readonly faults: number;
  /** By environment place: tokens that may still enter. */
  readonly environment: readonly number[];
  readonly tokens: readonly number[];
}

/** Something has fired since the last input: nothing from outside comes between until the net is at rest. */
export const SETTLING = 1;
/** The owner is closing: no effect starts. */
export const DRAINING = 2;

/** A state counted out by place. */
export class StateView {
  readonly counts: Int32Array;
  /** By place: where its tokens stand in the word. */
  readonly at: number[][];
  /** By domain: one more than the highest name in use. */
  readonly names: number[];
  /** Firings in flight. */
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
