/** How far a proof looks. Everything not named here is unbounded: interleavings, declared outcomes, failures. */
export interface Bounds {
  /**
   * How many tokens may come from outside, by place. An environment place that is not named gets one; a place that is
   * no environment place may be named too: a port that another net fills.
   */
  readonly environment?: Readonly<Record<string, number>>;
  /** Most tokens tried of one `upTo` output, everywhere or by place; 3 unless said. */
  readonly upTo?: number | Readonly<Record<string, number>>;
  /** Most tokens tried of all `upTo` outputs of one firing together; any number unless said. */
  readonly together?: number;
  /** Attempts of one firing that are told apart; 2 unless said. */
  readonly attempts?: number;
  /** How often a transition's own logic may fail (its implicit fault outcome); any number unless said. */
  readonly faults?: number;
  /** Whether the owner may close and another go on, at any time; true unless said. */
  readonly shutdowns?: boolean;
  /** The search gives up after this many states; 200,000 unless said. */
  readonly states?: number;
  /** The search gives up when its states take more memory than this, in bytes; 512 MB unless said. */
  readonly memoryBytes?: number;
  /** The search of one property gives up after this long; a minute unless said. */
  readonly searchTimeoutMs?: number;
}

export const DEFAULT_UP_TO = 3;
export const DEFAULT_ATTEMPTS = 2;
export const DEFAULT_STATES = 200_000;
export const DEFAULT_MEMORY_BYTES: number = 512_000_000;

/** The search gives up when one state has more successors than this: keys can be named in too many ways. */
export const MAX_SUCCESSORS = 50_000;
/** A state is a word of 16-bit letters: a net with more kinds of tokens has no such words. */
export const MAX_TOKEN_CLASSES = 65_535;

/** A budget that is never spent. It fits one byte, so that states stay compact. */
export const UNLIMITED = 255;
export const DEFAULT_SEARCH_TIMEOUT_MS = 60_000;
