import { PnmlFormatError, PnmlUnsupportedError, shorten } from './pnml-errors.ts';
import type { PnmlLocation } from './pnml-errors.ts';
import type { LimitCheck } from './pnml-limits.ts';
import type { ArcKind, PnmlNode } from './read-graph.ts';
import type { PlaceTransitionNet, SkeletonPlace, SkeletonTransition } from './skeleton.ts';

/** One arc of a transition that is being built. */
export interface SkeletonArc {
  readonly kind: ArcKind;
  readonly isInput: boolean;
  /** The name of a place of the skeleton. */
  readonly place: string;
  readonly weight: number;
  readonly at: PnmlLocation;
}

/** Builds a place/transition net, with the limits and the rules that hold for every type of net. */
export class SkeletonBuilder {
  readonly #limits: LimitCheck;
  readonly #toName: (node: PnmlNode) => string;
  readonly #places: SkeletonPlace[] = [];
  readonly #transitions: SkeletonTransition[] = [];
  readonly #placesById = new Map<string, string[]>();
  readonly #transitionsById = new Map<string, string[]>();
  readonly #names = new Set<string>();
  #tokens = 0;
  #arcs = 0;

  constructor(limits: LimitCheck, names: 'id' | 'name') {
    this.#limits = limits;
    this.#toName = names === 'id' ? ({ id }) => id : ({ label }) => label;
  }

  /** Adds a place. `color` distinguishes the places of one colored place. Returns its name. */
  addPlace(node: PnmlNode, color: string, tokens: number): string {
    const { at } = node.element;
    const name = this.#addName(node, color);
    this.#tokens += tokens;
    this.#limits.atMost('tokens', this.#tokens, 'the net begins with more tokens', at);
    this.#places.push({ name, tokens, at });
    this.#limits.atMost('places', this.#places.length, 'the net has more places', at);
    append(this.#placesById, node.id, name);
    return name;
  }

  /** Adds a transition with its arcs. `binding` distinguishes the transitions of one colored transition. */
  addTransition(node: PnmlNode, binding: string, arcs: readonly SkeletonArc[]): void {
    const { at } = node.element;
    const name = this.#addName(node, binding);
    const take = new Map<string, number>();
    const give = new Map<string, number>();
    const read = new Map<string, number>();
    const inhibit = new Set<string>();
    const reset = new Set<string>();
    for (const arc of arcs) {
      const { kind, isInput, place, weight } = arc;
      if (kind === 'reset') reset.add(place);
      else if (kind === 'inhibitor') {
        if (weight !== 1) throw inhibitorWeight(arc);
        inhibit.add(place);
      } else {
        const weights = kind === 'read' ? read : isInput ? take : give;
        const sum = (weights.get(place) ?? 0) + weight;
        this.#limits.atMost('weight', sum, `an arc has the weight ${sum}`, arc.at);
        weights.set(place, sum);
      }
    }
    this.#arcs += arcs.reduce((sum, { weight }) => sum + weight, 0);
    this.#limits.atMost('arcs', this.#arcs, 'the net has more arcs', at);
    this.#transitions.push({ name, take, give, read, inhibit, reset, at });
    this.#limits.atMost(
      'transitions',
      this.#transitions.length,
      'the net has more transitions',
      at,
    );
    append(this.#transitionsById, node.id, name);
  }

  /** Returns the net. */
  build(name: string): PlaceTransitionNet {
    return {
      name,
      places: this.#places,
      transitions: this.#transitions,
      placesById: this.#placesById,
      transitionsById: this.#transitionsById,
    };
  }

  /** A place and a transition may not share a name either: traces name both. */
  #addName(node: PnmlNode, color: string): string {
    const base = this.#toName(node);
    const name = color === '' ? base : `${base}[${color}]`;
    if (this.#names.has(name)) {
      throw new PnmlFormatError(
        `the name "${shorten(name)}" is used twice. Rename one, or import with \`names: 'id'\`.`,
        node.element.at,
      );
    }
    this.#names.add(name);
    return name;
  }
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

function inhibitorWeight({ weight, at }: SkeletonArc): PnmlUnsupportedError {
  return new PnmlUnsupportedError(
    `the inhibitor arc has the weight ${weight}; an inhibitor tests only for an empty place. Use the weight 1.`,
    at,
  );
}
