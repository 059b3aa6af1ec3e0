/** Reductions of a search. Each keeps the verdict. They are tried once a search has visited `after` states. */
export interface Reductions {
  /**
   * The number of states of the whole net that a search visits before the reductions are tried, so that a small net needs
   * none. Default: 5,000.
   */
  readonly after?: number;
  /** Decides `precedes` by the arcs alone, where they show it. Default: true. */
  readonly arcs?: boolean;
  /** Searches for a violation of a safety property within smaller bounds. Default: true. */
  readonly smallerBounds?: boolean;
  /** Searches a slice of the net that contains only what a safety property can depend on. Default: true. */
  readonly slicing?: boolean;
  /**
   * Decides `eventually` and `canFire` without the ages of tokens, where every order among equals gives the same
   * verdict. Default: true.
   */
  readonly anyOrder?: boolean;
}
