import { CanceledError, failureKind, ShutdownError, TimedOutError } from './abort-reasons.ts';
import { DriverLifecycle } from './driver-lifecycle.ts';
import type { DriverOptions, Injection, Step } from './driver-options.ts';
import type { Executor } from './executor.ts';
import type { RecordSeq } from '../journal/record.ts';
import type { Attempt, EffectResult } from './settled.ts';

type Input =
  | { readonly kind: 'injection'; readonly injection: Injection }
  | { readonly kind: 'result'; readonly attempt: Attempt; readonly result: EffectResult }
  | { readonly kind: 'recover' }
  | { readonly kind: 'shutdown'; readonly stillRunning: ReadonlySet<RecordSeq> }
  | { readonly kind: 'system'; readonly record: Parameters<Executor['appendSystemRecord']>[0] };

/** How long `close` waits for aborted attempts to end. */
const CLOSE_GRACE_MS = 5_000;

const noTimer = (): void => {};

/**
 * Runs one net. It collects inputs and results, settles the net, and commits the step. Only after the commit it
 * publishes the step and begins its effects. While a step is being committed, inputs wait.
 */
export class Driver {
  readonly #options: DriverOptions;
  #executor: Executor;
  #inputs: Input[] = [];
  /** The inputs of the step that is being committed. They are applied again after a conflict. */
  #inputsInFlight: Input[] = [];
  readonly #running = new Map<
    RecordSeq,
    { readonly attempt: number; readonly controller: AbortController; readonly done: Promise<void> }
  >();
  readonly #life = new DriverLifecycle();
  #cancelTimer: () => void = noTimer;
  #closed: Promise<void> | undefined;
  /** Firings whose start was committed while this driver was already closing. Their attempts did not begin. */
  readonly #unbegun = new Set<RecordSeq>();

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#executor = options.executor((firing) => this.#abort(firing));
  }

  /** The current executor. A conflict replaces it. */
  get executor(): Executor {
    return this.#executor;
  }

  /** True if no attempt runs and no input or step is pending, so the journal holds the whole state. */
  get isIdle(): boolean {
    return this.#life.isIdle && this.#inputs.length === 0 && this.#running.size === 0;
  }

  /** Adds an input for the next step. Attempts that it will cancel are aborted at once. */
  inject(injection: Injection): void {
    // Abort now what this input will cancel: the commit of the cancellation may take some time.
    for (const firing of this.#executor.findAborted(injection.place, injection.value)) {
      // An attempt that must not run again keeps its result: it can still end until the next step.
      if (this.#executor.isRerunForbidden(firing))
        this.#abortAttempt(firing, new CanceledError('The call was cancelled.'));
      else if (this.#life.isSettling) this.#abort(firing);
    }
    this.#push({ kind: 'injection', injection });
  }

  /** Adds a record that is not a firing to the next step. */
  appendSystemRecord(record: Parameters<Executor['appendSystemRecord']>[0]): void {
    this.#push({ kind: 'system', record });
  }

  /** Recovers the firings that the previous owner left in flight. */
  recover(): void {
    this.#push({ kind: 'recover' });
  }

  /** Collects inputs without settling until `release`, so that they share one step. */
  hold(): void {
    this.#life.hold();
  }

  /** Ends `hold` and settles the collected inputs. */
  release(): void {
    this.#life.release();
    this.schedule();
  }

  /** Schedules a run that settles inputs and due timers. */
  schedule(): void {
    if (this.#life.schedule()) (this.#options.defer ?? setImmediate)(() => void this.#run());
  }

  /** Resolves when no step is pending. Attempts may still run. */
  async whenIdle(): Promise<void> {
    await this.#life.whenIdle();
  }

  /** Resolves when no step is pending and no attempt runs, or when the driver has stopped. A timer may be set. */
  async whenQuiescent(): Promise<void> {
    while (!this.isIdle && !this.#life.isStopped) await this.#life.nextIdle();
  }

  /**
   * Stops cleanly: aborts running attempts, waits for them to end, and journals the result of each. An attempt that is
   * still running after `graceMs` ends as `unknown`, or is rerun by the next owner if its policy allows that.
   * @param graceMs milliseconds. Default: 5000.
   */
  async close(graceMs: number = CLOSE_GRACE_MS): Promise<void> {
    if (this.#life.isStopped) return;
    this.#closed ??= this.#close(graceMs);
    await this.#closed;
  }

  /**
   * Starts no more effects, and waits until the running attempts end, but at most so long. Their results are journaled,
   * and what they enable waits for the next owner. Only `close` and `stop` may follow.
   */
  async drain(timeoutMs: number): Promise<void> {
    if (this.#life.isStopped) return;
    this.#life.close();
    this.#executor.drain();
    // The attempts of a step that is being committed do not begin.
    await this.whenIdle();
    await this.#waitForAttempts(timeoutMs);
    await this.whenIdle();
  }

  async #close(graceMs: number): Promise<void> {
    this.#life.close();
    this.#executor.drain();
    for (const { controller } of this.#running.values()) {
      controller.abort(new ShutdownError('The runtime is shutting down.'));
    }
    await this.#waitForAttempts(graceMs);
    // The shutdown is an input, so that it is applied again if its step meets a conflict.
    this.#push({ kind: 'shutdown', stillRunning: new Set(this.#running.keys()) });
    await this.whenIdle();
    this.stop();
  }

  /** Stops at once and journals nothing. Use it if another owner has the session, or if the process is about to end. */
  stop(): void {
    this.#life.stop();
    this.#cancelTimer();
    for (const { controller } of this.#running.values())
      controller.abort(new ShutdownError('The session was taken over.'));
    this.#running.clear();
  }

  #push(input: Input): void {
    if (this.#life.isStopped) return;
    this.#inputs.push(input);
    this.schedule();
  }

  async #run(): Promise<void> {
    if (!this.#life.beginSettling()) return;
    try {
      while (await this.#step()) {
        // Repeat until a settling finds nothing to do.
      }
    } catch (error) {
      if (!this.#life.isStopped) {
        this.stop();
        this.#options.onFailed(error);
      }
      return;
    }
    if (!this.#life.endSettling()) return;
    this.#armTimer();
    if (this.#inputs.length > 0) this.schedule();
    this.#life.notifyIdle();
  }

  /** Runs one settled step. Returns false if there was nothing to settle, or if the driver must wait or has stopped. */
  async #step(): Promise<boolean> {
    // Abort overdue attempts first and wait for their results, so that an attempt that stops is journaled as stopped.
    if (this.#abortOverdue()) return false;
    const step = this.#settle();
    if (step === undefined) return false;
    const outcome = await this.#options.commit(step);
    if (this.#life.isStopped) return false;
    if (outcome === 'refused') {
      this.stop();
      this.#options.onRefused();
      return false;
    }
    if (outcome !== 'committed') {
      await this.#retryInputs(outcome);
      return !this.#life.isStopped;
    }
    this.#inputsInFlight = [];
    this.#options.onCommitted(step);
    for (const attempt of step.attempts) {
      if (this.#life.isStopped) return false;
      // An attempt that begins while the driver closes would be aborted at once, with an unknown outcome.
      if (this.#life.isClosing) this.#unbegun.add(attempt.firing);
      else this.#begin(attempt);
    }
    return !this.#life.isStopped;
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
            this.#inject(input.injection, now);
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
        case 'system':
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

  #inject({ place, value, key }: Injection, now: number): void {
    const isBarrier = this.#executor.net.places.get(place)?.barrier === true;
    if (isBarrier) this.#executor.settleUntimed(now);
    this.#executor.inject(place, value, now, key);
    if (isBarrier) this.#executor.settleUntimed(now);
  }

  /**
   * Queues the inputs of a step again after a conflict. `loaded` records are dropped: `reload` loads shared state again.
   * So are direct inputs that were refused.
   */
  async #retryInputs(outcome: 'conflict' | 'inputs-refused'): Promise<void> {
    this.#executor = await this.#options.reload((firing) => this.#abort(firing));
    if (this.#life.isClosing) this.#executor.drain();
    const again = this.#inputsInFlight.filter((input) => {
      if (input.kind === 'system') return input.record.kind !== 'loaded';
      const isDirect = input.kind === 'injection' && input.injection.isDirect === true;
      return !isDirect || outcome === 'conflict';
    });
    this.#inputs = [...again, ...this.#inputs];
  }

  #begin(attempt: Attempt): void {
    const { firing, firingId, attempt: number, t, tokens } = attempt;
    const controller = new AbortController();
    const { signal } = controller;
    let finished = false;
    const emit = (partial: unknown): void => {
      if (signal.aborted || finished || this.#life.isStopped) return;
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
    // This attempt ended because of the shutdown: `shutDown` journals it, or leaves it to the next owner to rerun.
    if (this.#life.isClosing && (mayRunAgain || result.kind === 'cancelled')) return;
    // If it may run again, an unknown outcome is an ordinary error: a second run does no harm.
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

  /** Aborts the signal of an attempt. Its result still counts until the firing ends. */
  #abortAttempt(firing: RecordSeq, reason: Error): void {
    this.#running.get(firing)?.controller.abort(reason);
  }

  /** Aborts the attempts that timed out. Returns true if it aborted any. */
  #abortOverdue(): boolean {
    if (this.#running.size === 0) return false;
    const now = this.#options.clock.now();
    const { firings } = this.#executor.marking;
    const overdue: RecordSeq[] = [];
    for (const [firing, { attempt, controller }] of this.#running) {
      const { timeoutAt = Infinity, attempt: current } = firings.get(firing) ?? {};
      if (timeoutAt <= now && attempt === current && !controller.signal.aborted)
        overdue.push(firing);
    }
    for (const firing of overdue)
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
    // A cancelled timer is not kept while the session rests.
    this.#cancelTimer = noTimer;
    const { nextDueAt } = this.#executor;
    const { clock } = this.#options;
    if (nextDueAt === undefined) return;
    if (nextDueAt <= clock.now()) this.schedule();
    else this.#cancelTimer = clock.at(nextDueAt, () => this.schedule());
  }
}
