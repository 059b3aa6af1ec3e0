import { faultPlace, unhandledFaultPlace } from '../../net/index.ts';
import type { CompiledNet } from '../../net/index.ts';
import type { CompiledInput, CompiledOutput, CompiledTransition } from '../../net/internal.ts';
import type { Bounds } from '../properties/bounds.ts';
import type { Precedes } from '../properties/property.ts';
import { listKnownLabels, parseLabeledName } from '../system/labels.ts';

/** More places together are not tried. */
const MAX_PLACES = 8;
/** More sets of places are not tried. */
const MAX_TRIES = 500;

/**
 * True if the arcs alone show that each firing of `transitions` needs an event `first` of its own: some places that
 * are empty at first get tokens only from `first`, one for each of its firings, and each of `transitions` takes one of
 * them. A transition that takes such tokens may give as many back. With a label, only tokens that have it are counted.
 * Tokens that are lost, to a fault, a reset or a refused firing, only make `transitions` fire less often.
 *
 * False means that the arcs alone do not show it.
 */
export function isOrderedByArcs(
  net: CompiledNet,
  { first, transitions, per }: Precedes,
  bounds: Bounds,
): boolean {
  if (per !== undefined) return false;
  const known = new Set(listKnownLabels(net));
  const parse = (full: string): Named | undefined => {
    const { name, label } = parseLabeledName(net, full) ?? { name: full };
    const t = net.byName.get(name);
    if (t === undefined || (label !== undefined && !known.has(label))) return undefined;
    return { t, label };
  };
  const event = parse(first);
  const users = transitions.flatMap((name) => parse(name) ?? []);
  const [label, ...otherLabels] = new Set(users.map((one) => one.label));
  if (event === undefined || users.length < transitions.length || otherLabels.length > 0)
    return false;
  if (event.label !== undefined && event.label !== label) return false;
  const order = { event, users: new Set(users.map(({ t }) => t)), label };
  return new ArcOrder(net, order, bounds).holds();
}

interface Named {
  readonly t: CompiledTransition;
  readonly label: string | undefined;
}

interface Order {
  readonly event: Named;
  readonly users: ReadonlySet<CompiledTransition>;
  /** The label of the tokens that are counted; all tokens if undefined. */
  readonly label: string | undefined;
}

/** Which inputs of a firing take a token with the label. */
type Assignment = readonly boolean[];

class ArcOrder {
  readonly #net: CompiledNet;
  readonly #order: Order;
  readonly #filled: ReadonlySet<string>;
  #tries = 0;

  constructor(net: CompiledNet, order: Order, { environment = {} }: Bounds) {
    this.#net = net;
    this.#order = order;
    const fromOutside = Object.keys(environment).filter((name) => (environment[name] ?? 0) > 0);
    this.#filled = new Set([
      ...net.initial.map(({ place }) => place.name),
      ...fromOutside,
      // A firing that fails adds a token there.
      faultPlace.name,
      unhandledFaultPlace.name,
    ]);
  }

  holds(): boolean {
    const { event, users, label } = this.#order;
    if (users.has(event.t)) return false;
    // Of several tokens, others than the first may have the label. A firing in flight may have one, too.
    const isUnclear = [...users].some((t) =>
      t.takes.some(
        ({ kind, mode, place }) =>
          kind === 'running' ||
          (mode !== 'one' && this.#net.places.get(place)?.label !== undefined),
      ),
    );
    return !(label !== undefined && isUnclear) && this.#closes(new Set());
  }

  /** True if these places, or more, are the places of a proof. Adds an input of a transition that breaks it. */
  #closes(places: ReadonlySet<string>): boolean {
    if (++this.#tries > MAX_TRIES || places.size > MAX_PLACES) return false;
    const breaking = this.#net.transitions.find((t) => !this.#keeps(t, places));
    if (breaking === undefined) return true;
    return breaking.takes
      .filter((input) => input.mode === 'one' && this.#isCounted(input.place))
      .some(({ place }) => !places.has(place) && this.#closes(new Set([...places, place])));
  }

  /** True for a place that is empty at first, gets nothing from outside, and whose tokens can have the label. */
  #isCounted(name: string): boolean {
    const place = this.#net.places.get(name);
    if (place?.kind !== 'tokens' || place.environment || this.#filled.has(name)) return false;
    return this.#order.label === undefined || place.label !== undefined;
  }

  #keeps(t: CompiledTransition, places: ReadonlySet<string>): boolean {
    return this.#listAssignments(t).every((labeled) => {
      const { event, users, label } = this.#order;
      const hasLabel = label === undefined || labeled.includes(true);
      const isEvent = t === event.t && (event.label === undefined || hasLabel);
      const isUser = users.has(t) && hasLabel;
      const taken = t.takes.reduce(
        (sum, input, index) =>
          places.has(input.place) && labeled[index] === true ? sum + this.#least(input) : sum,
        0,
      );
      const given = Math.max(
        0,
        ...[...t.alternatives.values()].map(({ outputs }) =>
          outputs.reduce(
            (sum, output) =>
              places.has(output.place.name) ? sum + this.#most(t, output, labeled) : sum,
            0,
          ),
        ),
      );
      return given - taken <= (isEvent ? 1 : 0) - (isUser ? 1 : 0);
    });
  }

  /** The tokens with the label that an input takes at least, if its first token has it. */
  #least({ mode, count }: CompiledInput): number {
    if (mode === 'one' || this.#order.label === undefined) return count;
    return 1;
  }

  /** The tokens with the label that an output gives at most. An effect keeps the label of one input. */
  #most(
    t: CompiledTransition,
    { output, labels = [] }: CompiledOutput,
    labeled: Assignment,
  ): number {
    const { label } = this.#order;
    const isRefused = labels.some(({ only, as }) => {
      if (label === undefined) return false;
      if (only !== undefined && !only.includes(label)) return true;
      const source = t.takes.findIndex(({ key }) => key === as);
      return source >= 0 && this.#isKnown(t, source) && labeled[source] === false;
    });
    if (isRefused) return 0;
    if (output.arc === 'one') return 1;
    return output.arc === 'upTo' ? output.max : Number.POSITIVE_INFINITY;
  }

  /** True if the outputs of a firing can be compared with the label of this input. */
  #isKnown({ takes, spec }: CompiledTransition, input: number): boolean {
    const isLabeled = ({ place, mode }: CompiledInput): boolean =>
      mode === 'one' && this.#net.places.get(place)?.label !== undefined;
    const source = takes[input];
    if (source === undefined || !isLabeled(source)) return false;
    return spec.kind !== 'effect' || takes.findIndex(isLabeled) === input;
  }

  /** Lists which inputs may take a token with the label. */
  #listAssignments({ takes }: CompiledTransition): readonly Assignment[] {
    if (this.#order.label === undefined) return [takes.map(() => true)];
    let all: boolean[][] = [[]];
    for (const { place } of takes) {
      const hasLabels = this.#net.places.get(place)?.label !== undefined;
      all = all.flatMap((some) =>
        hasLabels
          ? [
              [...some, true],
              [...some, false],
            ]
          : [[...some, false]],
      );
    }
    return all;
  }
}
