import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';
import type { TokenClasses } from '../system/token-classes.ts';
import { UnknownNameError } from '../properties/verify-errors.ts';

/** Resolves the names of a property. @throws UnknownNameError from every method, for a name that the net does not have. */
export class PropertyNames {
  readonly #net: ExpandedNet;

  constructor(net: ExpandedNet) {
    this.#net = net;
  }

  readonly place = (name: string): number => {
    const index = this.#net.placeIndex.get(name);
    if (index !== undefined) return index;
    throw new UnknownNameError(this.#net.net.name, `place "${name}"`, [
      ...this.#net.placeIndex.keys(),
    ]);
  };

  readonly transition = (name: string): number => {
    const t = this.#net.net.byName.get(name);
    if (t !== undefined) return t.index;
    throw new UnknownNameError(this.#net.net.name, `transition "${name}"`, [
      ...this.#net.net.byName.keys(),
    ]);
  };

  /** Returns a function that counts the tokens that a step adds to a place or an outlet. */
  tokensGained(name: string, tokenClasses: TokenClasses): (move: Move) => number {
    if (this.#net.net.places.get(name)?.kind === 'outlet') {
      return ({ variant }) =>
        (variant?.outlets ?? []).reduce((all, [outlet, n]) => (outlet === name ? all + n : all), 0);
    }
    const place = this.place(name);
    // A retry replaces an existing firing, so it adds none.
    return ({ added, kind }) =>
      kind === 'retrying' || kind === 'restarted'
        ? 0
        : added.reduce((all, code) => (tokenClasses.get(code).place === place ? all + 1 : all), 0);
  }

  /** Returns a function that counts how often an event happens in a step. */
  event(name: string, tokenClasses: TokenClasses): (move: Move) => number {
    const t = this.#net.net.byName.get(name);
    if (t === undefined) {
      if (!this.#net.placeIndex.has(name) && !this.#net.net.places.has(name))
        throw new UnknownNameError(this.#net.net.name, `transition or place "${name}"`, [
          ...this.#net.net.byName.keys(),
          ...this.#net.placeIndex.keys(),
        ]);
      return this.tokensGained(name, tokenClasses);
    }
    return (move) => (begins(move) && move.t === t.index ? 1 : 0);
  }
}

/** True if a transition fires or an effect starts. An effect that ends or retries started before. */
export function begins(move: Move): boolean {
  return move.kind === 'fired' || move.kind === 'started';
}
