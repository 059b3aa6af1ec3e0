import type { CompiledNet } from '../../net/index.ts';
import type { ExpandedNet } from '../system/expand.ts';
import { findEvent, findPlace, findTransition } from '../system/find-by-name.ts';
import type { Move } from '../system/move.ts';
import type { TokenClasses } from '../system/token-classes.ts';
import { listKnownLabels, parseLabeledName } from '../system/labels.ts';
import type { LabeledName } from '../system/labels.ts';
import type { State } from '../system/state.ts';
import { UnknownNameError } from '../properties/verify-errors.ts';

/** Counts how often something happens in a step from a state. */
type CountInStep = (move: Move, state: State) => number;

/** Resolves the names of a property. @throws UnknownNameError from every method, for a name that the net does not have. */
export class PropertyNames {
  readonly #net: ExpandedNet;

  constructor(net: ExpandedNet) {
    this.#net = net;
  }

  readonly place = (name: string): number => findPlace(this.#net, name);

  readonly transition = (name: string): number => findTransition(this.#net, name);

  /** Returns a function that counts the tokens that a step adds to a place or an outlet. */
  tokensGained(full: string, tokenClasses: TokenClasses): (move: Move) => number {
    const { name, color } = this.#split(full);
    if (this.#net.net.places.get(name)?.kind === 'outlet') {
      return ({ variant }) =>
        (variant?.outlets ?? []).reduce((all, [outlet, n]) => (outlet === name ? all + n : all), 0);
    }
    const place = this.place(name);
    // A retry replaces an existing firing, so it adds none.
    return ({ added, kind }) =>
      kind === 'retrying' || kind === 'restarted'
        ? 0
        : added.reduce((all, code) => {
            const token = tokenClasses.get(code);
            const isOne = token.place === place && (color === undefined || token.color === color);
            return isOne ? all + 1 : all;
          }, 0);
  }

  /** Returns a function that counts the tokens that a step adds to several places and outlets, each token once. */
  tokensGainedByAny(names: readonly string[], tokenClasses: TokenClasses): (move: Move) => number {
    const gains = this.#omitRepeats(names).map((full) => this.tokensGained(full, tokenClasses));
    return (move) => gains.reduce((sum, gained) => sum + gained(move), 0);
  }

  /**
   * Returns a function that finds which of these transitions begins in a step: its position, or -1. A name with a label
   * stands for the firings that take a token with it.
   */
  firings(
    names: readonly string[],
    tokenClasses: TokenClasses,
  ): (move: Move, state: State) => number {
    const wanted = names.map((full) => {
      const { name, color } = this.#split(full);
      return { t: this.transition(name), color };
    });
    return (move, { tokens }) => {
      if (!begins(move)) return -1;
      return wanted.findIndex(({ t, color }) => {
        if (t !== move.t) return false;
        if (color === undefined) return true;
        return move.taken.some(
          (position) => tokenClasses.get(tokens[position] ?? 0).color === color,
        );
      });
    };
  }

  /** True for the name of a transition, with or without a label. */
  isTransition(full: string): boolean {
    return this.#net.net.byName.has(this.#split(full).name);
  }

  /** True if the place has an initial token, with this label if the name has one. */
  isInitial(full: string): boolean {
    const { name, color } = this.#split(full);
    this.place(name);
    const { net, tracked } = this.#net;
    return net.initial.some(
      ({ place, value }) =>
        place.name === name &&
        (color === undefined || tracked.toInitialColor(place, value) === color),
    );
  }

  /** Splits a name with a label into the name and the color. */
  #split(full: string): { readonly name: string; readonly color: number | undefined } {
    const { net, tracked } = this.#net;
    const labeled = parseLabeledName(net, full);
    if (labeled === undefined) return { name: full, color: undefined };
    this.#assertLabel(labeled);
    return { name: labeled.name, color: tracked.toColor(labeled.label) };
  }

  #assertLabel({ name, label }: LabeledName): void {
    const { net } = this.#net;
    const places = net.byName.get(name)?.takes.map(({ place }) => place) ?? [name];
    if (!places.some((place) => net.places.get(place)?.label !== undefined))
      throw new UnknownNameError(net.name, `label of "${name}"`, listLabeledNames(net));
    const known = listKnownLabels(net);
    if (!known.includes(label))
      throw new UnknownNameError(net.name, `label "${label}" of "${name}"`, known);
  }

  /** Returns a function that counts how often an event happens in a step. */
  event(full: string, tokenClasses: TokenClasses): CountInStep {
    const { name } = this.#split(full);
    if (!this.isTransition(full)) {
      // An outlet, a list or a map is a place of the net whose tokens are not counted.
      if (!this.#net.net.places.has(name)) findEvent(this.#net, name);
      return this.tokensGained(full, tokenClasses);
    }
    const begun = this.firings([full], tokenClasses);
    return (move, state) => (begun(move, state) < 0 ? 0 : 1);
  }

  /**
   * Returns a function that counts how often one of several events happens in a step. A firing with several of these
   * names is one event, and so is a token.
   */
  events(names: readonly string[], tokenClasses: TokenClasses): CountInStep {
    const isTransition = (name: string): boolean => this.isTransition(name);
    const begun = this.firings(names.filter(isTransition), tokenClasses);
    const gains = this.#omitRepeats(names.filter((name) => !isTransition(name))).map((full) =>
      this.event(full, tokenClasses),
    );
    return (move, state) =>
      gains.reduce((sum, gained) => sum + gained(move, state), begun(move, state) < 0 ? 0 : 1);
  }

  /** Omits repeated names, and a place with a label if the place is named without one, too. */
  #omitRepeats(names: readonly string[]): readonly string[] {
    const all = new Set(names);
    return [...all].filter((full) => {
      const { name } = this.#split(full);
      return name === full || !all.has(name);
    });
  }
}

/** True if a transition fires or an effect starts. An effect that ends or retries started before. */
export function begins(move: Move): boolean {
  return move.kind === 'fired' || move.kind === 'started';
}

/** The positions of the tokens that a step takes. A retry replaces an existing firing, so it takes none. */
export function listTaken({ kind, removed }: Move): readonly number[] {
  return kind === 'retrying' || kind === 'restarted' ? [] : removed;
}

/** The transitions and places whose tokens have labels. */
function listLabeledNames(net: CompiledNet): readonly string[] {
  const isLabeled = (place: string): boolean => net.places.get(place)?.label !== undefined;
  return [
    ...net.transitions.flatMap((t) =>
      t.takes.some(({ place }) => isLabeled(place)) ? [t.name] : [],
    ),
    ...[...net.places.keys()].filter(isLabeled),
  ];
}
