/** Reductions of a search. Each keeps the verdict. All are on by default; turn one off to compare. */
export interface Reductions {
  /** First searches a slice of the net that contains only what a safety property can depend on. Default: true. */
  readonly slicing?: boolean;
}
