import { OutcomeUnknownError } from '../../core/index.ts';
import type { Clock } from '../clock/clock.ts';
import type { Executor } from './executor.ts';
import type { RecordSeq } from '../journal/record.ts';
import type { Attempt, EffectResult, Settled } from './settled.ts';

/** Something from outside for an environment place. */
export interface Injection {
  readonly place: string;
  readonly value: unknown;
  /** Its dedupe key. */
  readonly key?: string;
  /** Where it came from, for whoever keeps an inbox. */
  readonly inputSeq?: number;
}

/** A settled step on its way to the journal. */
export interface Step extends Settled {
  /** The injections that went into this step, in order. */
  readonly injected: readonly Injection[];
  /** Injections the net could not take: consumed all the same, so that a bad input is not met again. */
  readonly rejected: readonly { readonly injection: Injection; readonly error: unknown }[];
}

/** `refused`: the journal belongs to someone else now. `conflict`: something it built on moved; nothing was written. */
export type StepOutcome = 'committed' | 'refused' | 'conflict';

/** Something shown while an attempt runs. */
export interface EffectProgress {
  readonly firingId: string;
  readonly attempt: number;
  readonly transition: string;
  readonly partial: unknown;
}

/** What a driver needs around its net: an executor, a clock, where steps become durable, and who hears of them. */
export interface DriverOptions {
  readonly executor: (onAbort: (firing: RecordSeq) => void) => Executor;
  readonly clock: Clock;
  /** Makes a step durable, whole or not at all. Rejects only when it can never be tried again. */
  readonly commit: (step: Step) => Promise<StepOutcome>;
  /** After a step is durable and before its effects begin. */
  readonly onCommitted: (step: Step) => void;
  readonly onProgress: (progress: EffectProgress) => void;
  /** The journal belongs to someone else: everything in flight was aborted and this driver does nothing more. */
  readonly onRefused: () => void;
  /** The net itself failed in a way no transition can take: a damaged journal, a defect. This driver does nothing more. */
  readonly onFailed: (error: unknown) => void;
  /** After a conflict: a fresh executor over what the journal really holds, with the shared state loaded again. */
  readonly reload: (onAbort: (firing: RecordSeq) => void) => Promise<Executor>;
  /**
   * Runs a callback soon, after what is already under way: results of one moment share a step. `setImmediate` unless
   * given.
   */
  readonly defer?: (callback: () => void) => void;
}

type Input =
  | { readonly kind: 'injection'; readonly injection: Injection }
  | { readonly kind: 'result'; readonly attempt: Attempt; readonly result: EffectResult }
  | { readonly kind: 'recover' }
  | { readonly kind: 'shutdown'; readonly stillRunning: ReadonlySet<RecordSeq> }
  | { readonly kind: 'note'; readonly record: Parameters<Executor['appendSystemRecord']>[0] };

/** How long a closing driver waits for effects that were told to stop. */
const CLOSE_GRACE_MS = 5_000;

/** The reason of an attempt's abort signal when its runtime closes or loses the session. */
export class ShutdownError extends Error {}

/** The reason of an attempt's abort signal when an input is about to cancel its firing. */
class CanceledError extends Error {}

/** The reason of an attempt's abort signal when it took longer than its `timeoutMs`. */
class TimedOutError extends Error {}

/**
 * Runs one net: takes inputs and results, settles, makes the step durable, and only then shows it and begins its effects.
 * While a step is being committed, inputs wait.
 */
export class Driver {
  readonly #options: DriverOptions;
  #executor: Executor;
  #inputs: Input[] = [];
  /** Inputs of the step that is being committed, to be taken again after a conflict. */
  #inputsInFlight: Input[] = [];
  readonly #running = new Map<
    RecordSeq,
    { readonly attempt: number; readonly controller: AbortController; readonly done: Promise<void> }
  >();
  #state: 'resting' | 'scheduled' | 'settling' | 'over' = 'resting';
  #waiters: (() => void)[] = [];
  #isHeld = false;
  #cancelTimer: () => void = () => {};
  #closing: Promise<void> | undefined;
  /** Firings that started, durably, when this driver was closing already. */
  readonly #unbegun = new Set<RecordSeq>();

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#executor = options.executor((firing) => this.#abort(firing));
  }

  get executor(): Executor {
    return this.#executor;
  }

  /** True when nothing runs, waits to be settled, or is being committed: the journal says it all. */
  get isIdle(): boolean {
    return this.#state === 'resting' && this.#inputs.length === 0 && this.#running.size === 0;
  }

  inject(injection: Injection): void {
    // What this input will cancel is told at once; the commit that says so may still be some time away.
    for (const firing of this.#executor.findAborted(injection.place, injection.value)) {
      // How it ends matters: it has until the next step to say so.
      if (this.#executor.isRerunForbidden(firing))
        this.#abortAttempt(firing, new CanceledError('The call was cancelled.'));
      else if (this.#state === 'settling') this.#abort(firing);
    }
    this.#push({ kind: 'injection', injection });
  }

  appendSystemRecord(record: Parameters<Executor['appendSystemRecord']>[0]): void {
    this.#push({ kind: 'note', record });
  }

  /** Goes on with what the former owner left in flight. */
  recover(): void {
    this.#push({ kind: 'recover' });
  }

  /** Inputs collect from now on, and nothing settles until `release`: what came first is taken together. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.schedule();
  }

  /** Settles what is due. */
  schedule(): void {
    if (this.#state !== 'resting' || this.#isHeld) return;
    this.#state = 'scheduled';
    (this.#options.defer ?? setImmediate)(() => void this.#run());
  }

  /** Resolves when nothing is waiting to be settled or committed. */
  async whenIdle(): Promise<void> {
    while (this.#state === 'scheduled' || this.#state === 'settling') {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /**
   * Ends cleanly: tells what runs to stop, waits up to 5 s for it, and journals how each ended. What still runs after
   * that ends `unknown`, unless it may run again.
   */
  async close(graceMs: number = CLOSE_GRACE_MS): Promise<void> {
    if (this.#isStopped) return;
    this.#closing ??= this.#close(graceMs);
    await this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    this.#executor.drain();
    for (const { controller } of this.#running.values()) {
      controller.abort(new ShutdownError('The runtime is shutting down.'));
    }
    await this.#waitForAttempts(graceMs);
    // An input like others: should its step meet a conflict, it is taken again.
    this.#push({ kind: 'shutdown', stillRunning: new Set(this.#running.keys()) });
    await this.whenIdle();
    this.stop();
  }

  /** Ends at once and journals nothing: the session is someone else's, or this process is about to end. */
  stop(): void {
    this.#state = 'over';
    this.#cancelTimer();
    for (const { controller } of this.#running.values())
      controller.abort(new ShutdownError('The session was taken over.'));
    this.#running.clear();
    this.#notifyIdle();
  }

  get #isStopped(): boolean {
    return this.#state === 'over';
  }

  #push(input: Input): void {
    if (this.#isStopped) return;
    this.#inputs.push(input);
    this.schedule();
  }

  async #run(): Promise<void> {
    if (this.#isStopped) return;
    this.#state = 'settling';
    try {
      while (await this.#step()) {
        // Until a settling finds nothing to do.
      }
    } catch (error) {
      if (!this.#isStopped) {
        this.stop();
        this.#options.onFailed(error);
      }
      return;
    }
    if (this.#isStopped) return;
    this.#state = 'resting';
    this.#armTimer();
    if (this.#inputs.length > 0) this.schedule();
    this.#notifyIdle();
  }

  /** One settled step; false when there was nothing to settle. */
  async #step(): Promise<boolean> {
    // Their results are taken before their time is up, so that what stopped is journaled as stopped.
    if (this.#abortOverdue()) return false;
    const step = this.#settle();
    if (step === undefined) return false;
    const outcome = await this.#options.commit(step);
    if (this.#isStopped) return false;
    if (outcome === 'refused') {
      this.stop();
      this.#options.onRefused();
      return false;
    }
    if (outcome !== 'committed') {
      await this.#retryInputs();
      return !this.#isStopped;
    }
    this.#inputsInFlight = [];
    this.#options.onCommitted(step);
    for (const attempt of step.attempts) {
      if (this.#isStopped) return false;
      // Told to stop before it began, it would only leave a doubt.
      if (this.#closing === undefined) this.#begin(attempt);
      else this.#unbegun.add(attempt.firing);
    }
    return !this.#isStopped;
  }

  #settle(): Step | undefined {
    const now = this.#options.clock.now();
    this.#inputsInFlight = this.#inputs;
    this.#inputs = [];
    const injected: Injection[] = [];
    const rejected: { injection: Injection; error: unknown }[] = [];
    for (const input of this.#inputsInFlight) {
      switch (input.kind) {
        case 'injection':
          injected.push(input.injection);
          try {
            this.#executor.inject(
              input.injection.place,
              input.injection.value,
              now,
              input.injection.key,
            );
          } catch (error) {
            rejected.push({ injection: input.injection, error });
          }
          break;
        case 'result':
          this.#executor.finish(
            input.attempt.firing,
            input.attempt.attempt,
            input.result,
            now,
            input.attempt.t.name,
          );
          break;
        case 'recover':
          this.#executor.recover(now);
          break;
        case 'shutdown':
          this.#executor.shutDown(now, {
            unbegun: this.#unbegun,
            stillRunning: input.stillRunning,
          });
          break;
        case 'note':
          this.#executor.appendSystemRecord(input.record, now);
          break;
        default:
          input satisfies never;
      }
    }
    this.#executor.settle(now);
    if (!this.#executor.hasUncommitted && rejected.length === 0) return undefined;
    return { ...this.#executor.takeSettled(), injected, rejected };
  }

  /** Takes a step's inputs again, over what the journal really holds. Shared state was loaded anew for it. */
  async #retryInputs(): Promise<void> {
    this.#executor = await this.#options.reload((firing) => this.#abort(firing));
    if (this.#closing !== undefined) this.#executor.drain();
    const again = this.#inputsInFlight.filter(
      (input) => input.kind !== 'note' || input.record.kind !== 'loaded',
    );
    this.#inputs = [...again, ...this.#inputs];
  }

  #begin(attempt: Attempt): void {
    const { firing, firingId, attempt: number, t, tokens } = attempt;
    const controller = new AbortController();
    const { signal } = controller;
    let finished = false;
    const emit = (partial: unknown): void => {
      if (signal.aborted || finished || this.#isStopped) return;
      this.#options.onProgress({ firingId, attempt: number, transition: t.name, partial });
    };
    const { host } = this.#executor;
    const running = async (): Promise<unknown> =>
      t.spec.run(tokens, { signal, firingId, attempt: number, host, emit });
    const ended = (result: EffectResult): void => {
      finished = true;
      this.#finished(attempt, result);
    };
    const done = running().then(
      (value) => ended({ ok: true, value }),
      (error: unknown) => ended({ ok: false, kind: failureKind(error, signal), error }),
    );
    this.#running.set(firing, { attempt: number, controller, done });
  }

  #finished(attempt: Attempt, result: EffectResult): void {
    if (this.#running.get(attempt.firing)?.attempt === attempt.attempt)
      this.#running.delete(attempt.firing);
    if (result.ok || (result.kind !== 'cancelled' && result.kind !== 'unknown')) {
      this.#push({ kind: 'result', attempt, result });
      return;
    }
    const { firing } = attempt;
    const mayRunAgain = result.kind === 'unknown' && !this.#executor.isRerunForbidden(firing);
    // An attempt that gave up because of the shutdown: `shutDown` journals it, or lets it run again under the next owner.
    if (this.#closing !== undefined && (mayRunAgain || result.kind === 'cancelled')) return;
    // What may run again has failed: that it may have happened harms nobody.
    this.#push({
      kind: 'result',
      attempt,
      result: mayRunAgain ? { ...result, kind: 'error' } : result,
    });
  }

  #abort(firing: RecordSeq): void {
    this.#abortAttempt(firing, new Error('The firing was cancelled.'));
    this.#running.delete(firing);
  }

  /** Aborts an attempt's signal. How the attempt ends still counts, until its firing is over. */
  #abortAttempt(firing: RecordSeq, reason: Error): void {
    this.#running.get(firing)?.controller.abort(reason);
  }

  /** Tells attempts whose time is up to stop. True when there was one that did not know yet. */
  #abortOverdue(): boolean {
    const now = this.#options.clock.now();
    const { firings } = this.#executor.marking;
    const overdue = [...this.#running].filter(
      ([firing, { attempt, controller }]) =>
        !controller.signal.aborted &&
        firings.get(firing)?.attempt === attempt &&
        (firings.get(firing)?.timeoutAt ?? Infinity) <= now,
    );
    for (const [firing] of overdue)
      this.#abortAttempt(firing, new TimedOutError('The attempt timed out.'));
    return overdue.length > 0;
  }

  async #waitForAttempts(graceMs: number): Promise<void> {
    const all = Promise.all([...this.#running.values()].map(({ done }) => done));
    let cancel: () => void = () => {};
    const grace = new Promise<void>((resolve) => {
      cancel = this.#options.clock.at(this.#options.clock.now() + graceMs, resolve);
    });
    await Promise.race([all, grace]);
    cancel();
  }

  #armTimer(): void {
    this.#cancelTimer();
    const { nextDueAt } = this.#executor;
    const { clock } = this.#options;
    if (nextDueAt === undefined) return;
    if (nextDueAt <= clock.now()) this.schedule();
    else this.#cancelTimer = clock.at(nextDueAt, () => this.schedule());
  }

  #notifyIdle(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** How a rejected attempt ended: by what it says, and by what it was told before. */
function failureKind(
  error: unknown,
  signal: AbortSignal,
): 'error' | 'timeout' | 'cancelled' | 'unknown' {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  if (signal.reason instanceof TimedOutError) return 'timeout';
  return signal.reason instanceof ShutdownError || signal.reason instanceof CanceledError
    ? 'cancelled'
    : 'error';
}
