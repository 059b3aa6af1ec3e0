/**
 * Reductions of a search. Each keeps the verdict, but a verdict of a reduced search does not say which transitions the
 * bounds kept from firing.
 */
export interface Reductions {
  /** First searches a slice of the net that contains only what a safety property can depend on. Default: false. */
  readonly slicing?: boolean;
}
