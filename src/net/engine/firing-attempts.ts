import type { Expiry } from './agenda.ts';
import { resolveTimeoutMs } from './attempt-timeout.ts';
import { MAX_CRASHES, resolveCrashPolicy } from './crash-policy.ts';
import { readFiringTokens } from './binding.ts';
import type { CompiledNet, CompiledTransition } from '../build/compile.ts';
import { checkOutputs } from './check-outputs.ts';
import type { CheckedOutputs } from './check-outputs.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { guard } from './guard.ts';
import { errorMessage, toLoggedError } from './logged-error.ts';
import type { Firing } from '../journal/marking.ts';
import type { Ended, EndedOutcome, RecordSeq } from '../journal/record.ts';
import { NetBuildError } from '../language/net-errors.ts';
import { retryDelay } from '../language/retry.ts';
import type { CrashPolicy, EffectFailure } from '../language/transition.ts';
import type { EffectResult } from './settled.ts';
import { writeOutputs, type StepRecorder, type Writable } from './step-recorder.ts';

/** The `reason` of a `retrying` record whose attempt was ended by a shutdown of the runtime. */
export const SHUTDOWN = 'shutdown';

/** The attempts of the firings in flight: their results, failures, timeouts, retries and crashes. */
export class FiringAttempts {
  readonly #net: CompiledNet;
  readonly #options: ExecutorOptions;
  readonly #step: StepRecorder;

  constructor(net: CompiledNet, options: ExecutorOptions, step: StepRecorder) {
    this.#net = net;
    this.#options = options;
    this.#step = step;
  }

  /** Records the result of an attempt. If its firing or attempt has ended already, the result is journaled as discarded. */
  finish(firing: RecordSeq, attempt: number, result: EffectResult, now: number, t: string): void {
    const found = this.#step.marking.firings.get(firing);
    if (found === undefined || found.attempt !== attempt || found.retryAt !== undefined) {
      const seq = this.#step.nextSeq;
      this.#step.append({ seq, at: this.#step.at(now), kind: 'discarded', t, firing });
      return;
    }
    if (result.ok) {
      this.#end(found, 'ok', () => result.value, now);
      return;
    }
    const { kind, error } = result;
    if (kind === 'timeout') {
      this.#failLate(found, now, 'timeout');
      return;
    }
    const failure = { kind, message: errorMessage(error), error, attempt };
    this.#fail(found, failure, kind === 'error' ? 'failed' : kind, now);
  }

  /**
   * Recovers a session under a new owner: each firing that was running when the previous owner died is run again or
   * ends as unknown, depending on its crash policy. It is called before any other input.
   */
  recover(now: number): void {
    for (const firing of this.#step.marking.firings.values()) {
      if (firing.retryAt !== undefined) continue;
      const policy = this.#crashPolicy(firing, now);
      if (policy === undefined) continue;
      if (policy === 'rerun' && firing.crashes < MAX_CRASHES - 1) {
        this.#restart(firing, 'crash', now);
        continue;
      }
      const message =
        policy === 'rerun'
          ? `the process died ${MAX_CRASHES} times while this ran: it is not retried`
          : 'the process died while this ran: it may have happened';
      this.#fail(firing, { kind: 'unknown', message, attempt: firing.attempt }, 'unknown', now);
    }
  }

  /** See `Executor.shutDown`. The caller makes sure that no new effect starts. */
  shutDown(
    now: number,
    {
      unbegun = new Set(),
      stillRunning = new Set(),
    }: {
      readonly unbegun?: ReadonlySet<RecordSeq>;
      readonly stillRunning?: ReadonlySet<RecordSeq>;
    } = {},
  ): void {
    for (const firing of this.#step.marking.firings.values()) {
      if (firing.retryAt !== undefined) continue;
      const policy = unbegun.has(firing.id) ? 'rerun' : this.#crashPolicy(firing, now);
      if (policy === 'rerun') {
        this.#options.onAbort?.(firing.id);
        this.#scheduleRetry(firing, 0, SHUTDOWN, now);
      } else if (policy !== undefined) {
        const { attempt } = firing;
        if (stillRunning.has(firing.id)) {
          const message = 'the runtime was shut down while this ran, and it did not stop';
          this.#fail(firing, { kind: 'unknown', message, attempt }, 'unknown', now);
        } else {
          const message = 'the runtime was shut down';
          this.#fail(firing, { kind: 'cancelled', message, attempt }, 'cancelled', now);
        }
      }
    }
  }

  /**
   * True if the crash policy forbids running a firing again. The outcome of its current attempt then matters even if the
   * firing is being cancelled.
   */
  isRerunForbidden(firing: RecordSeq): boolean {
    const found = this.#step.marking.firings.get(firing);
    if (found === undefined || found.retryAt !== undefined) return false;
    const t = this.#transition(found.t);
    return (
      guard(
        () => resolveCrashPolicy(t, found),
        () => {},
      ) !== 'rerun'
    );
  }

  /** Adds the first attempt of a firing, or its next one after a restart. */
  add(id: RecordSeq, t: CompiledTransition): void {
    const firing = this.#step.marking.firings.get(id);
    if (firing === undefined) return;
    const { attempt } = firing;
    const firingId = this.#options.toFiringId(id);
    const tokens = readFiringTokens(t, firing);
    this.#step.addAttempt({ firing: id, firingId, attempt, t, tokens });
  }

  #restart(firing: Firing, cause: 'retry' | 'crash', now: number): void {
    const t = this.#transition(firing.t);
    const timeoutMs = this.#guard(firing, now, () =>
      resolveTimeoutMs(t, () => readFiringTokens(t, firing)),
    );
    if (timeoutMs === undefined) return;
    const at = this.#step.at(now);
    this.#step.append({
      seq: this.#step.nextSeq,
      at,
      kind: 'restarted',
      t: t.name,
      firing: firing.id,
      attempt: firing.attempt + 1,
      cause,
      timeoutAt: at + timeoutMs,
    });
    this.add(firing.id, t);
  }

  /** Starts the retry that is due, or ends the attempt that timed out. */
  expire({ firing: id, what }: Expiry, now: number): void {
    const firing = this.#step.marking.firings.get(id);
    if (firing === undefined) return;
    if (what === 'retry') {
      this.#restart(firing, 'retry', now);
      return;
    }
    const policy = this.#crashPolicy(firing, now);
    if (policy !== undefined)
      this.#failLate(firing, now, policy === 'rerun' ? 'timeout' : 'unknown');
  }

  /**
   * Ends an attempt that timed out: as `timeout` if it stopped or may run again, or as `unknown` if its effect may still
   * happen. Both are retried if the retry policy allows.
   */
  #failLate(firing: Firing, now: number, outcome: 'timeout' | 'unknown'): void {
    const t = this.#transition(firing.t);
    const { attempt } = firing;
    this.#options.onAbort?.(firing.id);
    const decision = this.#guard(firing, now, () => {
      const seconds = resolveTimeoutMs(t, () => readFiringTokens(t, firing)) / 1000;
      const message = `no result within ${seconds} s`;
      const failure: EffectFailure = { kind: 'timeout', message, attempt };
      return { late: failure, delay: retryDelay(t.spec.retry, failure) };
    });
    if (decision === undefined) return;
    const { late, delay } = decision;
    if (delay !== undefined) this.#scheduleRetry(firing, delay, late.message, now);
    else if (outcome === 'timeout') this.#endFailed(firing, late, outcome, now);
    else {
      const message = `${late.message}, and it did not stop`;
      this.#endFailed(firing, { kind: outcome, message, timedOut: true, attempt }, outcome, now);
    }
  }

  #fail(firing: Firing, failure: EffectFailure, outcome: EndedOutcome, now: number): void {
    const t = this.#transition(firing.t);
    this.#options.onAbort?.(firing.id);
    const mayRetry = failure.kind === 'error' || failure.kind === 'timeout';
    const decision = this.#guard(firing, now, () => ({
      delay: mayRetry ? retryDelay(t.spec.retry, failure) : undefined,
    }));
    if (decision === undefined) return;
    const { delay } = decision;
    if (delay !== undefined) this.#scheduleRetry(firing, delay, failure.message, now);
    else this.#endFailed(firing, failure, outcome, now);
  }

  #scheduleRetry(firing: Firing, delay: number, reason: string, now: number): void {
    const { t, id } = firing;
    const at = this.#step.at(now);
    const seq = this.#step.nextSeq;
    this.#step.append({ seq, at, kind: 'retrying', t, firing: id, dueAt: at + delay, reason });
    this.#step.removeAttempt(firing.id);
  }

  #endFailed(firing: Firing, failure: EffectFailure, outcome: EndedOutcome, now: number): void {
    const { failed } = this.#transition(firing.t).spec;
    this.#end(firing, outcome, (tokens) => failed?.(failure, tokens), now, failure.message);
  }

  #end(
    firing: Firing,
    outcome: EndedOutcome,
    returned: (tokens: Record<string, unknown>) => unknown,
    now: number,
    reason?: string,
  ): void {
    const t = this.#transition(firing.t);
    const taken = (key: string): number =>
      firing.inputs.get(t.takes.find((input) => input.key === key)?.place ?? '')?.length ?? 0;
    const at = this.#step.at(now);
    const context = { taken, marking: this.#step.marking, at, read: firing.reads.lists };
    const checked = (): CheckedOutputs =>
      checkOutputs(
        this.#net,
        t,
        returned(readFiringTokens(t, firing)),
        t.spec.labels === undefined
          ? context
          : { ...context, tokens: () => readFiringTokens(t, firing) },
      );
    // The return value of an effect comes from outside. If it is invalid, the effect failed, not the net.
    const outputs = guard(checked, (error) => {
      if (outcome === 'ok') this.#endFailed(firing, toFailure(firing, error), 'failed', now);
      else this.#faultFiring(firing, error, now);
    });
    if (outputs === undefined) return;
    const record: Writable<Ended> = {
      seq: this.#step.nextSeq,
      at,
      kind: 'ended',
      t: t.name,
      firing: firing.id,
      outcome,
    };
    writeOutputs(record, outputs);
    if (reason !== undefined) record.reason = reason;
    this.#step.append(record);
    this.#step.emitOutlets(outputs.outlets);
  }

  #faultFiring({ t, id: firing }: Firing, error: unknown, now: number): void {
    const at = this.#step.at(now);
    const seq = this.#step.nextSeq;
    this.#step.append({ seq, at, kind: 'faulted', t, firing, error: toLoggedError(error) });
  }

  #crashPolicy(firing: Firing, now: number): CrashPolicy | undefined {
    const t = this.#transition(firing.t);
    const policy = this.#guard(firing, now, () => resolveCrashPolicy(t, firing));
    if (policy === undefined) this.#options.onAbort?.(firing.id);
    return policy;
  }

  #guard<T extends {}>(firing: Firing, now: number, run: () => T): T | undefined {
    return guard(run, (error) => this.#faultFiring(firing, error, now));
  }

  #transition(name: string): CompiledTransition {
    const t = this.#net.byName.get(name);
    if (t !== undefined) return t;
    throw new NetBuildError(this.#net.name, [
      `a firing of "${name}" is in flight, but the net has no such transition: restore it, or migrate its firings`,
    ]);
  }
}

function toFailure({ attempt }: Firing, error: unknown): EffectFailure {
  return { kind: 'error', message: errorMessage(error), error, attempt };
}
