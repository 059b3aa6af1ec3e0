import type { AnyPlace, Net, TokenPlace } from '../../net/index.ts';

/** A net that is added to an agent, and what it holds in a turn. */
export interface Extension {
  readonly net: Net;
  /** Places, including `running(…)` places, whose tokens are discarded when a turn is stopped. */
  readonly discardable: readonly AnyPlace[];
  /** A place that has a token from an interrupt of a turn to the end of this turn. Default: none. */
  readonly interrupted?: TokenPlace<null>;
}

/** The extension of a net. A net alone holds nothing in a turn. */
export function toExtension(extension: Net | Extension): Extension {
  return 'net' in extension ? extension : { net: extension, discardable: [] };
}
