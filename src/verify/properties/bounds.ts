/** The bounds of a proof. Everything else is unbounded: interleavings, declared outcomes and failures. */
export interface Bounds {
  /**
   * The number of tokens that may come from outside, by place. Default: 1 for each environment place. You can also list
   * a place that is not an environment place, such as a port that another net fills.
   */
  readonly environment?: Readonly<Record<string, number>>;
  /**
   * The maximum number of tokens of one `upTo` output, for all places or by place. Default: 3; for tokens without a value,
   * such as a budget, at least as many as the transitions that take them need to fire once each.
   */
  readonly upTo?: number | Readonly<Record<string, number>>;
  /** The maximum number of tokens of all `upTo` outputs of one firing together. Default: no limit. */
  readonly together?: number;
  /**
   * Places that stay empty: an outcome that would give one of them a token does not occur. Use it for what another
   * proof covers. Default: none.
   */
  readonly empty?: readonly string[];
  /** The maximum number of attempts of one firing. Default: 2. */
  readonly attempts?: number;
  /** The maximum number of faults, that is, of firings whose own logic fails. Default: no limit. */
  readonly faults?: number;
  /** Whether the owner may close at any time and another owner continue. Default: true. */
  readonly shutdowns?: boolean;
  /** The search gives up after this many states. Default: 200,000. */
  readonly states?: number;
  /** The search gives up when its states use more memory than this, in bytes. Default: 512,000,000. */
  readonly memoryBytes?: number;
  /** The search of one property gives up after this time, in milliseconds. Default: 60,000. */
  readonly searchTimeoutMs?: number;
}

export const DEFAULT_UP_TO = 3;
export const DEFAULT_ATTEMPTS = 2;
export const DEFAULT_STATES = 200_000;
export const DEFAULT_MEMORY_BYTES: number = 512_000_000;

/** The search gives up when one state has more successors than this, because new tokens can have too many keys. */
export const MAX_SUCCESSORS = 50_000;
/** The maximum number of token classes: a state encodes each of its tokens in 16 bits. */
export const MAX_TOKEN_CLASSES = 65_535;

/** A budget without a limit. It fits in one byte, which keeps states compact. */
export const UNLIMITED = 255;
export const DEFAULT_SEARCH_TIMEOUT_MS = 60_000;
