import type { PnmlLocation } from './pnml-errors.ts';

/** A place of a place/transition net. */
export interface SkeletonPlace {
  readonly name: string;
  readonly tokens: number;
  readonly at: PnmlLocation;
}

/** The numbers of tokens on the arcs of one kind, by the name of the place. */
export type Weights = ReadonlyMap<string, number>;

/** A transition of a place/transition net. */
export interface SkeletonTransition {
  readonly name: string;
  readonly take: Weights;
  readonly give: Weights;
  readonly read: Weights;
  readonly inhibit: ReadonlySet<string>;
  readonly reset: ReadonlySet<string>;
  readonly at: PnmlLocation;
}

/** A place/transition net: what is left of a net without the values of its tokens. */
export interface PlaceTransitionNet {
  readonly name: string;
  readonly places: readonly SkeletonPlace[];
  readonly transitions: readonly SkeletonTransition[];
  /** By id of a place in the document: the names of its places here. */
  readonly placesById: ReadonlyMap<string, readonly string[]>;
  /** By id of a transition in the document: the names of its transitions here. */
  readonly transitionsById: ReadonlyMap<string, readonly string[]>;
}
