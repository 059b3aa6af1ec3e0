import { arcPlace } from './arcs.ts';
import type { FiringToken } from './firing-token.ts';
import { runningPlaceName } from './place-identity.ts';
import type { OutputSpec, ReturnValue, Inputs, InputValues } from './arcs.ts';
import type { LabelRule } from './label-rule.ts';
import type { AnyPlace, Place } from './place.ts';

/** A number of milliseconds, or a function that computes it from the tokens. */
export type Milliseconds<Tokens> = number | ((tokens: Tokens) => number);

/**
 * Why an attempt of an effect failed.
 * - `error`: it threw.
 * - `timeout`: it took longer than `timeoutMs` and stopped, or it is safe to run again.
 * - `cancelled`: it stopped because its signal was aborted.
 * - `unknown`: its side effect may have happened, or may still happen.
 */
export interface EffectFailure {
  readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown';
  readonly message: string;
  /** Only with kind `unknown`: it took longer than `timeoutMs` and did not stop. */
  readonly timedOut?: true;
  /** The thrown value, if the attempt threw in this process. */
  readonly error?: unknown;
  readonly attempt: number;
}

/** The retry policy of an effect. */
export interface Retry {
  /** The maximum number of attempts, including the first. */
  readonly attempts: number;
  /**
   * The delay before the next attempt. `'1s..30s'` doubles the delay with each attempt, from 1 s up to 30 s. A function
   * returns the delay in milliseconds, or undefined to give up.
   */
  readonly backoff:
    | `${number}${'ms' | 's' | 'm'}..${number}${'ms' | 's' | 'm'}`
    | ((failure: EffectFailure) => number | undefined);
}

/**
 * What recovery does with a firing whose process died during an attempt. `rerun`: runs it again as the next attempt.
 * `unknown`: ends it as failed, with failure kind `unknown`.
 */
export type CrashPolicy = 'rerun' | 'unknown';

/** The second argument of an effect's `run`. */
export interface EffectContext {
  /** Aborted when the firing is cancelled, the attempt times out, or the runtime closes. */
  readonly signal: AbortSignal;
  /** Stays the same over retries and crashes. Use it as the idempotency key for calls to other systems. */
  readonly firingId: string;
  /** The number of this attempt, from 1. Each retry and each crash adds one. */
  readonly attempt: number;
  /** Sends a partial result to live observers at once. It is not journaled. */
  readonly emit: (partial: unknown) => void;
  /** Host-provided context, constant for the lifetime of the net. */
  readonly host: unknown;
}

/** The second argument of a pure transition's `run`. */
export interface FiringContext {
  readonly firingId: string;
  /** The time of the firing, epoch milliseconds. */
  readonly at: number;
  /** Host-provided context, constant for the lifetime of the net. */
  readonly host: unknown;
}

interface Arcs<I extends Inputs, R extends Inputs, G extends OutputSpec> {
  /** Inputs that the firing consumes. The first input carries the clock of a timed transition. */
  readonly take: I;
  /** Inputs that the firing reads without consuming them. */
  readonly read?: R;
  /** Inhibitor arcs: these places must be empty. */
  readonly unless?: readonly AnyPlace[];
  /** Places that the firing empties. Resetting `running(t)` cancels the firings of `t`. */
  readonly reset?: readonly AnyPlace[];
  /** The declared outputs. */
  readonly give: G;
  /** Of several enabled transitions, the one with the highest priority fires first. Default: 0. */
  readonly priority?: number;
  /** The names that the transition had in earlier versions of its net, oldest first. Default: none. */
  readonly formerNames?: readonly string[];
  /**
   * True if only tokens that an earlier version of the net stored enable the transition. A proof does not expect it to
   * fire. Default: false.
   */
  readonly isForFormerTokens?: boolean;
  /** The labels that output tokens may have. Default: any. */
  readonly labels?: readonly LabelRule[];
}

type Tokens<I extends Inputs, R extends Inputs> = InputValues<I> & InputValues<R>;

/** The definition of a pure transition. */
export interface PureSpec<I extends Inputs, R extends Inputs, G extends OutputSpec, O> extends Arcs<
  I,
  R,
  G
> {
  /**
   * Makes the transition timed: it is enabled this many milliseconds after the token of its first input arrived. A
   * restart of the process does not restart the clock. If the first input is `all`, the clock of the oldest token
   * counts, and the firing takes every token of the place.
   */
  readonly after?: Milliseconds<InputValues<I>[keyof I]>;
  /** Computes the outputs from the tokens and the firing only. It must not use a clock or randomness. */
  readonly run: (tokens: Tokens<I, R>, firing: FiringContext) => O;
}

/** The definition of an effect. */
export interface EffectSpec<
  I extends Inputs,
  R extends Inputs,
  G extends OutputSpec,
  O,
  F,
> extends Arcs<I, R, G> {
  /** The maximum number of firings in flight at once. Default: no limit. */
  readonly concurrency?: number;
  /** The timeout of one attempt, in milliseconds. Default: 300,000 (5 minutes). */
  readonly timeoutMs?: Milliseconds<Tokens<I, R>>;
  /** Default: one attempt. */
  readonly retry?: Retry;
  /** Default: `unknown`, so that an effect that may have happened does not happen twice. */
  readonly onCrash?: CrashPolicy | ((tokens: Tokens<I, R>) => CrashPolicy);
  /** Maps an error, a timeout or a crash to outputs. A net with an effect without `failed` does not build. */
  readonly failed: (failure: EffectFailure, tokens: Tokens<I, R>) => F;
  /**
   * Builds what `run` sends to another system, without sending it. It is called to inspect a firing, with the tokens of
   * that firing. Default: nothing can be shown.
   */
  readonly preview?: (tokens: Tokens<I, R>, context: EffectContext) => Promise<unknown>;
  readonly run: (tokens: Tokens<I, R>, context: EffectContext) => Promise<O>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- its types were checked where the transition was made; inside the net it is data
type Untyped = any;

/** A transition as data. Its types are checked where it is defined; inside the net it is untyped. */
export interface Transition {
  readonly kind: 'pure' | 'effect';
  readonly name: string;
  readonly take: Inputs;
  readonly read: Inputs;
  readonly unless: readonly AnyPlace[];
  readonly reset: readonly AnyPlace[];
  readonly give: OutputSpec;
  readonly priority: number;
  readonly formerNames: readonly string[];
  /** Default: false. */
  readonly isForFormerTokens?: boolean;
  readonly labels?: readonly LabelRule[];
  /** Only for pure transitions. The members below it, except `run`, are only for effects. */
  readonly after?: Milliseconds<Untyped>;
  readonly concurrency?: number;
  readonly timeoutMs?: Milliseconds<Untyped>;
  readonly retry?: Retry;
  readonly onCrash?: CrashPolicy | ((tokens: Untyped) => CrashPolicy);
  readonly failed?: (failure: EffectFailure, tokens: Untyped) => unknown;
  readonly preview?: (tokens: Untyped, context: EffectContext) => Promise<unknown>;
  readonly run: (tokens: Untyped, context: Untyped) => unknown;
}

/**
 * A transition that runs outside the net, so its firings take time. `running(effect)` is the place of its firings in
 * flight; other transitions can take, read or reset it.
 */
export interface Effect<
  // oxlint-disable-next-line typescript/no-explicit-any -- an effect is invariant in its inputs: no other type holds all of them
  I extends Inputs = any,
> extends Transition {
  readonly kind: 'effect';
  readonly __inputs?: (inputs: InputValues<I>) => InputValues<I>;
}

/** Defines a pure transition. A firing consumes, resets and outputs in one journal record. */
export function pure<
  const I extends Inputs,
  const G extends OutputSpec,
  const O extends ReturnValue<G>,
  const R extends Inputs = Record<never, never>,
>(name: string, spec: PureSpec<I, R, G, O>): Transition {
  return { ...spec, ...arcDefaults(spec), kind: 'pure', name };
}

/**
 * Defines a transition with an effect outside the net. A firing writes one journal record when it starts and one when
 * it ends. In between it is a token of `running(t)`.
 */
export function effect<
  const I extends Inputs,
  const G extends OutputSpec,
  const O extends ReturnValue<G>,
  const F extends ReturnValue<G>,
  const R extends Inputs = Record<never, never>,
>(name: string, spec: EffectSpec<I, R, G, O, F>): Effect<I> {
  return { ...spec, ...arcDefaults(spec), kind: 'effect', name };
}

function arcDefaults(
  spec: Arcs<Inputs, Inputs, OutputSpec>,
): Pick<Transition, 'read' | 'unless' | 'reset' | 'priority' | 'formerNames'> {
  return {
    read: spec.read ?? {},
    unless: spec.unless ?? [],
    reset: spec.reset ?? [],
    priority: spec.priority ?? 0,
    formerNames: spec.formerNames ?? [],
  };
}

/** Returns the place of the firings of `t` in flight, including those that wait for a retry. */
export function running<I extends Inputs>(
  t: Effect<I>,
): Place<FiringToken<InputValues<I>>, 'running'> {
  return {
    kind: 'running',
    name: runningPlaceName(t.name),
    schema: undefined,
    version: undefined,
    owed: Object.values(t.take).some((input) => arcPlace(input).owed),
    environment: false,
    barrier: false,
    formerNames: t.formerNames.map(runningPlaceName),
  };
}

/** Returns a transition under another name. Its former names change in the same way. */
export function renameTransition<T extends Transition>(t: T, rename: (name: string) => string): T {
  return { ...t, name: rename(t.name), formerNames: t.formerNames.map(rename) };
}
