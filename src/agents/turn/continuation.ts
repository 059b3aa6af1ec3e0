import { inputValues } from '../../net/index.ts';
import type { AnyPlace, Place, TokenPlace } from '../../net/index.ts';

/** Values by the name of the place they were in. */
export type HeldValues = Readonly<Record<string, readonly unknown[]>>;

/** Where the tokens of an agent go when a resume continues a turn that failed. */
export interface Continuation {
  /** Places whose tokens continue as they are. */
  readonly kept: readonly AnyPlace[];
  /** Places whose work begins again. */
  readonly restarts: readonly Restart[];
}

/** Reads the values that other places of the agent held. */
export type ReadHeld = <T>(place: Place<T>) => readonly T[];

/** Work of one place that begins again in another. */
export interface Restart {
  readonly from: AnyPlace;
  readonly to: AnyPlace;
  /** The tokens of `to`, one for each of `from`. */
  readonly toTokens: (
    held: HeldValues,
    scoped: (place: AnyPlace) => AnyPlace,
  ) => readonly unknown[];
}

/** The continuation of an agent part that holds no work. */
export const noContinuation: Continuation = { kept: [], restarts: [] };

/** Begins the work of `from` again, with a token in `to` for each token. */
export function restart<From, To>(
  from: Place<From>,
  to: TokenPlace<To>,
  toToken: (token: From, read: ReadHeld) => To,
): Restart {
  return {
    from,
    to,
    toTokens: (held, scoped) =>
      inputValues<From>(held, scoped(from)).map((token) =>
        toToken(token, <T>(place: Place<T>) => inputValues<T>(held, scoped(place))),
      ),
  };
}

/** The continuation of an agent whose places have other names. */
export function scopedContinuation(
  { kept, restarts }: Continuation,
  scoped: (place: AnyPlace) => AnyPlace,
): Continuation {
  return {
    kept: kept.map(scoped),
    restarts: restarts.map(({ from, to, toTokens }) => ({
      from: scoped(from),
      to: scoped(to),
      toTokens: (held) => toTokens(held, scoped),
    })),
  };
}
