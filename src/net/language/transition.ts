import { arcPlace } from './arcs.ts';
import type { OutputSpec, ReturnValue, Inputs, InputValues } from './arcs.ts';
import type { AnyPlace, Place } from './place.ts';

/** Milliseconds, or how to tell them from the tokens at hand. */
export type Milliseconds<Tokens> = number | ((tokens: Tokens) => number);

/**
 * Why an attempt of an effect did not end well. `error`: it threw. `timeout`: it took longer than `timeoutMs` and
 * stopped, or may run again. `cancelled`: it stopped because it was told to. `unknown`: its effect may have happened or
 * may still happen.
 */
export interface EffectFailure {
  readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown';
  readonly message: string;
  /** Of `unknown`: it took longer than `timeoutMs`, and did not stop. */
  readonly timedOut?: true;
  /** What was thrown, when something was and this process saw it. */
  readonly error?: unknown;
  readonly attempt: number;
}

/** `'1s..30s'`: doubling from the first to the last. A function returns the delay, or undefined to give up. */
export interface Retry {
  /** How often it is tried at most, the first time included. */
  readonly attempts: number;
  readonly backoff:
    | `${number}${'ms' | 's' | 'm'}..${number}${'ms' | 's' | 'm'}`
    | ((failure: EffectFailure) => number | undefined);
}

/** What happens to a firing whose process died while it ran. `rerun`: again, as the next attempt. `unknown`: it ends `failed` with kind `unknown`. */
export type CrashPolicy = 'rerun' | 'unknown';

/** What an attempt of an effect may know and do besides its tokens. */
export interface EffectContext {
  /** Aborted when the firing is cancelled, times out, or its runtime closes. */
  readonly signal: AbortSignal;
  /** The same over retries and crashes: the idempotency key for whatever the effect does outside. */
  readonly firingId: string;
  /** 1, then one more for each retry or crash. */
  readonly attempt: number;
  /** Shows something at once to whoever watches. Not journaled. */
  readonly emit: (partial: unknown) => void;
  /** What the one who runs the net says of itself; the same for the net's whole life. */
  readonly host: unknown;
}

/** What a pure transition may know besides its tokens. */
export interface FiringContext {
  readonly firingId: string;
  /** The firing's time, epoch milliseconds. */
  readonly at: number;
  /** What the one who runs the net says of itself; the same for the net's whole life. */
  readonly host: unknown;
}

interface Arcs<I extends Inputs, R extends Inputs, G extends OutputSpec> {
  /** Consumed. The first input carries the clock of a timed transition. */
  readonly take: I;
  /** Seen without being consumed. */
  readonly read?: R;
  /** Must be empty. */
  readonly unless?: readonly AnyPlace[];
  /** Emptied in the same firing. A firing in flight that is reset is cancelled. */
  readonly reset?: readonly AnyPlace[];
  readonly give: G;
  /** Higher first; 0 unless said. */
  readonly priority?: number;
}

type Tokens<I extends Inputs, R extends Inputs> = InputValues<I> & InputValues<R>;

export interface PureSpec<I extends Inputs, R extends Inputs, G extends OutputSpec, O> extends Arcs<
  I,
  R,
  G
> {
  /**
   * Enabled this long after the token of its first input arrived; a restart does not start the clock again.
   * With `all` the oldest token's clock counts, and every token there is is taken.
   */
  readonly after?: Milliseconds<InputValues<I>[keyof I]>;
  /** A function of its tokens and the firing: no clock, no randomness. */
  readonly run: (tokens: Tokens<I, R>, firing: FiringContext) => O;
}

export interface EffectSpec<
  I extends Inputs,
  R extends Inputs,
  G extends OutputSpec,
  O,
  F,
> extends Arcs<I, R, G> {
  /** How many firings may be in flight at once; any number unless said. */
  readonly concurrency?: number;
  /** One attempt may take this long; 5 minutes unless said. */
  readonly timeoutMs?: Milliseconds<Tokens<I, R>>;
  readonly retry?: Retry;
  /** `unknown` unless said: nothing that may have happened happens twice. */
  readonly onCrash?: CrashPolicy | ((tokens: Tokens<I, R>) => CrashPolicy);
  /** What a throw, a timeout or a crash becomes: without it the net does not build. */
  readonly failed: (failure: EffectFailure, tokens: Tokens<I, R>) => F;
  readonly run: (tokens: Tokens<I, R>, context: EffectContext) => Promise<O>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- its types were checked where the transition was made; inside the net it is data
type Untyped = any;

/** A transition as data. Its types were checked where it was made; inside the net it is untyped. */
export interface Transition {
  readonly kind: 'pure' | 'effect';
  readonly name: string;
  readonly take: Inputs;
  readonly read: Inputs;
  readonly unless: readonly AnyPlace[];
  readonly reset: readonly AnyPlace[];
  readonly give: OutputSpec;
  readonly priority: number;
  /** Pure only. */
  readonly after?: Milliseconds<Untyped>;
  readonly concurrency?: number;
  readonly timeoutMs?: Milliseconds<Untyped>;
  readonly retry?: Retry;
  readonly onCrash?: CrashPolicy | ((tokens: Untyped) => CrashPolicy);
  readonly failed?: (failure: EffectFailure, tokens: Untyped) => unknown;
  readonly run: (tokens: Untyped, context: Untyped) => unknown;
}

/** A transition whose firings take time; `running` makes a place of those in flight, for others to take, read or reset. */
export interface Effect<
  // oxlint-disable-next-line typescript/no-explicit-any -- an effect is invariant in its inputs: no other type holds all of them
  I extends Inputs = any,
> extends Transition {
  readonly kind: 'effect';
  readonly __inputs?: (inputs: InputValues<I>) => InputValues<I>;
}

/** A firing in flight, as a transition that takes or reads it sees it. */
export interface FiringToken<Inputs> {
  readonly firingId: string;
  readonly attempt: number;
  /** When the firing started, its first attempt with it; epoch milliseconds. */
  readonly startedAt: number;
  readonly inputs: Inputs;
}

/** Consumes, resets and gives in one journal entry. */
export function pure<
  const I extends Inputs,
  const G extends OutputSpec,
  const O extends ReturnValue<G>,
  const R extends Inputs = Record<never, never>,
>(name: string, spec: PureSpec<I, R, G, O>): Transition {
  return { ...spec, ...arcDefaults(spec), kind: 'pure', name };
}

/** Does something outside: one journal entry when it starts, one when it ends; in between it is a token of `running(t)`. */
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
): Pick<Transition, 'read' | 'unless' | 'reset' | 'priority'> {
  return {
    read: spec.read ?? {},
    unless: spec.unless ?? [],
    reset: spec.reset ?? [],
    priority: spec.priority ?? 0,
  };
}

/** The place whose tokens are the firings of `t` in flight, those that wait for a retry included. */
export function running<I extends Inputs>(
  t: Effect<I>,
): Place<FiringToken<InputValues<I>>, 'running'> {
  return {
    kind: 'running',
    name: `running(${t.name})`,
    schema: undefined,
    version: undefined,
    owed: Object.values(t.take).some((input) => arcPlace(input).owed),
    environment: false,
  };
}

/** `running(tool.run)` → `tool.run`. */
export function effectName(place: AnyPlace): string | undefined {
  return place.kind === 'running' ? place.name.slice('running('.length, -1) : undefined;
}
