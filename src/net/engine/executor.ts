import { omitUndefined } from '../../core/internal.ts';
import { Agenda } from './agenda.ts';
import type { Expiry } from './agenda.ts';
import { bind, readTokens, readFiringTokens } from './binding.ts';
import type { Binding, NetState } from './binding.ts';
import type { CompiledNet, CompiledTransition } from '../build/compile.ts';
import { consume, consumeTaken, firingsEnded, createPin } from './consume.ts';
import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { FiringsInFlight } from './firings-in-flight.ts';
import { checkOutputs, toDeposit } from './check-outputs.ts';
import type { CheckedOutputs, OutletValue } from './check-outputs.ts';
import { environmentPlace } from './injection.ts';
import { resolveCrashPolicy, resolveTimeoutMs } from './attempt-policy.ts';
import { applyRecord } from '../journal/apply-record.ts';
import type { Firing, Marking } from '../journal/marking.ts';
import { NetBuildError } from '../language/net-errors.ts';
import { errorMessage, toLoggedError } from './logged-error.ts';
import { retryDelay } from '../language/retry.ts';
import type {
  Deposit,
  Due,
  Ended,
  EndedOutcome,
  Faulted,
  Fired,
  RecordOutputs,
  JournalRecord,
  RecordSeq,
  Started,
} from '../journal/record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';
import type { Attempt, EffectResult, Settled, SettledOutlet } from './settled.ts';
import { MAX_FIRINGS_PER_SETTLE, SettleLimit, SettleLimitError } from './settle-limit.ts';
import type { EffectFailure, CrashPolicy } from '../language/transition.ts';

/** After this many crashes a firing ends as unknown, whatever its policy: the firing itself may cause the crashes. */
const MAX_CRASHES = 3;
/** The `reason` of a `retrying` record whose attempt was ended by a shutdown of the runtime. */
export const SHUTDOWN = 'shutdown';

/** What the host provides to an executor. */
export interface ExecutorOptions {
  /** Returns the public id of a firing. It must be the same after a restart. */
  readonly toFiringId: (firing: RecordSeq) => string;
  /** Called for each firing that was taken, reset, timed out or ended otherwise while an attempt may still run. */
  readonly onAbort?: (firing: RecordSeq) => void;
  /** Context passed unchanged to every `run`. It must stay constant for the lifetime of the net. */
  readonly host?: unknown;
}

type WithoutSeq<R> = R extends JournalRecord ? Omit<R, 'seq' | 'at'> : never;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const none: readonly never[] = [];

/**
 * Fires the transitions of a net. It does no I/O and starts no attempt: it turns inputs, results and the time into
 * records, applies them to its marking, and lists the attempts to begin after the records are durable. After each
 * firing it evaluates the affected transitions again.
 */
export class Executor {
  readonly net: CompiledNet;
  readonly marking: Marking;
  readonly #options: ExecutorOptions;
  readonly #firings = new FiringsInFlight();
  readonly #state: NetState;
  readonly #agenda: Agenda;
  #records: JournalRecord[] = [];
  #outlets: SettledOutlet[] = [];
  /** Attempts to begin, by firing. An aborted one is removed. */
  readonly #pendingAttempts = new Map<RecordSeq, Attempt>();
  /** The latest time passed to this executor. It never goes back, so that what fell due stays due. */
  #latest = 0;

  constructor(net: CompiledNet, marking: Marking, options: ExecutorOptions) {
    this.net = net;
    this.marking = marking;
    this.#options = options;
    this.#state = { net, marking, firings: this.#firings.byPlace, toFiringId: options.toFiringId };
    for (const firing of marking.firings.values()) this.#firings.add(firing);
    this.#agenda = new Agenda(this.#state);
  }

  /** The context that every `run` receives. */
  get host(): unknown {
    return this.#options.host;
  }

  /** Adds the initial tokens of the net, in the first record of a new session. */
  begin(now: number): void {
    const at = this.#at(now);
    const give = this.net.initial.map(({ place, value, times }): Deposit => {
      const deposit = toDeposit(this.net, place, parseTokenValue(place, value), at);
      return times === 1 ? deposit : [deposit[0], deposit[1], { ...deposit[2], times }];
    });
    const net = { hash: this.net.hash, versions: this.net.versions };
    this.#append({ kind: 'injected', give, net }, now);
  }

  /**
   * Adds a token to an environment place.
   * @throws UnknownPlaceError if the net has no environment place of this name.
   * @throws TokenSchemaError if the value does not match the schema of the place.
   */
  inject(place: string, value: unknown, now: number, key?: string): void {
    const target = environmentPlace(this.net, place);
    const deposit = toDeposit(this.net, target, parseTokenValue(target, value), this.#at(now));
    this.#append({ kind: 'injected', give: [deposit], ...omitUndefined({ key }) }, now);
  }

  /** Appends a record that is not a firing: ownership, loaded shared state, or an upgrade. */
  appendSystemRecord(
    record: WithoutSeq<Extract<JournalRecord, { kind: 'owned' | 'loaded' | 'upgraded' }>>,
    now: number,
  ): void {
    this.#append(record, now);
    if (record.kind !== 'upgraded') return;
    this.#firings.clear();
    for (const firing of this.marking.firings.values()) this.#firings.add(firing);
    this.#agenda.reload();
  }

  /** Records the result of an attempt. If its firing or attempt has ended already, the result is journaled as discarded. */
  finish(firing: RecordSeq, attempt: number, result: EffectResult, now: number, t: string): void {
    const found = this.marking.firings.get(firing);
    if (found === undefined || found.attempt !== attempt || found.retryAt !== undefined) {
      this.#append({ kind: 'discarded', t, firing }, now);
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
    for (const firing of this.marking.firings.values()) {
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

  /**
   * Ends the firings in flight because the runtime closes. A firing that may run again waits for the next owner. Any
   * other firing ends: `cancelled` if its attempt stopped, `unknown` if its attempt still runs, because its effect may
   * still happen. No new effect starts.
   * @param unbegun firings whose attempt did not begin. Nothing happened, so they also wait for the next owner.
   * @param stillRunning firings whose attempt did not stop after its signal was aborted.
   */
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
    this.#agenda.drain();
    for (const firing of this.marking.firings.values()) {
      if (firing.retryAt !== undefined) continue;
      const policy = unbegun.has(firing.firing) ? 'rerun' : this.#crashPolicy(firing, now);
      if (policy === 'rerun') {
        this.#options.onAbort?.(firing.firing);
        this.#scheduleRetry(firing, 0, SHUTDOWN, now);
      } else if (policy !== undefined) {
        const { attempt } = firing;
        if (stillRunning.has(firing.firing)) {
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
    const found = this.marking.firings.get(firing);
    if (found === undefined || found.retryAt !== undefined) return false;
    try {
      return resolveCrashPolicy(this.#transition(found.t), found) !== 'rerun';
    } catch {
      return true;
    }
  }

  /** From now on no effect starts. Running attempts may end. */
  drain(): void {
    this.#agenda.drain();
  }

  /** Fires until no transition is enabled and nothing is due at `now`. */
  settle(now: number): void {
    let limit: SettleLimit | undefined;
    for (let firings = 0; ; firings++) {
      const next = this.#agenda.next(this.#at(now));
      if (next === undefined) return;
      if (firings === MAX_FIRINGS_PER_SETTLE) limit = new SettleLimit(this.#records);
      if ('what' in next) this.#expire(next, now);
      else if (next.broken !== undefined) this.#faultBinding(next, next.broken.error, now);
      else if (limit?.refuses(next.t.name) === true)
        this.#faultBinding(next, new SettleLimitError(), now);
      else if (next.t.spec.kind === 'pure') this.#fire(next, now);
      else this.#start(next, now);
    }
  }

  /** True if there are records to commit. A discarded result alone can wait for the next step. */
  get hasUncommitted(): boolean {
    return this.#records.some((record) => record.kind !== 'discarded');
  }

  /** Returns the firings that a token of this value in `place` would cancel now. */
  findAborted(place: string, value: unknown): readonly RecordSeq[] {
    const target = this.net.places.get(place);
    const cancelling = (this.net.touched.get(place) ?? []).filter((t) => t.cancels);
    if (target === undefined || cancelling.length === 0) return [];
    const { tokens, seq, at } = this.marking;
    const before = tokens.get(place);
    try {
      const token = { id: `${seq + 1}.0`, at, value: parseTokenValue(target, value) };
      tokens.set(place, [...(before ?? []), token]);
      return cancelling.flatMap((t) => {
        const binding = bind(t, this.#state, at);
        return binding === undefined ? [] : firingsEnded(binding, this.#state);
      });
    } catch {
      return [];
    } finally {
      if (before === undefined) tokens.delete(place);
      else tokens.set(place, before);
    }
  }

  /** The time of the next change without input, epoch milliseconds. Undefined if the net waits for input. */
  get nextDueAt(): number | undefined {
    return this.#agenda.nextDueAt;
  }

  /**
   * The time at which the net must run again, epoch milliseconds: when it next changes without input, or now if `drain`
   * holds back an effect that could start.
   */
  get nextRunAt(): number | undefined {
    return this.#agenda.isDraining ? this.settledNextRunAt : this.nextDueAt;
  }

  /** The value of `nextRunAt` after the last settling of this marking, by this executor or another. */
  get settledNextRunAt(): number | undefined {
    return this.#agenda.hasEffectToStart ? this.marking.at : this.nextDueAt;
  }

  /** Returns and clears the records, outlet values and attempts since the previous call. */
  takeSettled(): Settled {
    const settled = {
      records: this.#records,
      outlets: this.#outlets,
      attempts: [...this.#pendingAttempts.values()],
    };
    this.#records = [];
    this.#outlets = [];
    this.#pendingAttempts.clear();
    return settled;
  }

  #fire(binding: Binding, now: number): void {
    const { t } = binding;
    const at = this.#at(now);
    let outputs: CheckedOutputs;
    try {
      const firingId = this.#options.toFiringId(this.marking.seq + 1);
      const firing = { firingId, at, host: this.#options.host };
      const returned = t.spec.run(readTokens(binding, this.#state), firing);
      const taken = (input: string): number => countTaken(binding, input);
      outputs = checkOutputs(this.net, t, returned, { taken, marking: this.marking, at });
    } catch (error) {
      this.#faultBinding(binding, error, now);
      return;
    }
    const record: Writable<WithoutSeq<Fired>> = { kind: 'fired', t: t.name };
    consume(record, binding, this.#state);
    writeOutputs(record, outputs);
    this.#append(record, now);
    this.#emitOutlets(outputs.outlets);
  }

  #start(binding: Binding, now: number): void {
    const { t } = binding;
    let timeoutAt: number;
    try {
      timeoutAt = this.#at(now) + resolveTimeoutMs(t, () => readTokens(binding, this.#state));
    } catch (error) {
      this.#faultBinding(binding, error, now);
      return;
    }
    const record: Writable<WithoutSeq<Started>> = { kind: 'started', t: t.name, timeoutAt };
    consume(record, binding, this.#state);
    const pin = createPin(t, this.marking);
    if (pin !== undefined) record.pin = pin;
    this.#append(record, now);
    this.#addAttempt(this.marking.seq, t);
  }

  #addAttempt(id: RecordSeq, t: CompiledTransition): void {
    const firing = this.marking.firings.get(id);
    if (firing === undefined) return;
    const { attempt } = firing;
    const firingId = this.#options.toFiringId(id);
    this.#pendingAttempts.set(id, {
      firing: id,
      firingId,
      attempt,
      t,
      tokens: readFiringTokens(t, firing),
    });
  }

  #restart(firing: Firing, cause: 'retry' | 'crash', now: number): void {
    const t = this.#transition(firing.t);
    let timeoutAt: number;
    try {
      timeoutAt = this.#at(now) + resolveTimeoutMs(t, () => readFiringTokens(t, firing));
    } catch (error) {
      this.#faultFiring(firing, error, now);
      return;
    }
    const attempt = firing.attempt + 1;
    this.#append(
      { kind: 'restarted', t: t.name, firing: firing.firing, attempt, cause, timeoutAt },
      now,
    );
    this.#addAttempt(firing.firing, t);
  }

  #expire({ firing: id, what }: Expiry, now: number): void {
    const firing = this.marking.firings.get(id);
    if (firing === undefined) return;
    if (what === 'retry') {
      // While draining, leave the retry to the owner of the session at the time it falls due.
      if (!this.#agenda.isDraining) this.#restart(firing, 'retry', now);
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
    this.#options.onAbort?.(firing.firing);
    let late: EffectFailure;
    let delay: number | undefined;
    try {
      const seconds = resolveTimeoutMs(t, () => readFiringTokens(t, firing)) / 1000;
      late = { kind: 'timeout', message: `no result within ${seconds} s`, attempt };
      delay = retryDelay(t.spec.retry, late);
    } catch (error) {
      this.#faultFiring(firing, error, now);
      return;
    }
    if (delay !== undefined) this.#scheduleRetry(firing, delay, late.message, now);
    else if (outcome === 'timeout') this.#endFailed(firing, late, outcome, now);
    else {
      const message = `${late.message}, and it did not stop`;
      this.#endFailed(firing, { kind: outcome, message, timedOut: true, attempt }, outcome, now);
    }
  }

  #fail(firing: Firing, failure: EffectFailure, outcome: EndedOutcome, now: number): void {
    const t = this.#transition(firing.t);
    this.#options.onAbort?.(firing.firing);
    let delay: number | undefined;
    try {
      const again = failure.kind === 'error' || failure.kind === 'timeout';
      delay = again ? retryDelay(t.spec.retry, failure) : undefined;
    } catch (error) {
      this.#faultFiring(firing, error, now);
      return;
    }
    if (delay !== undefined) this.#scheduleRetry(firing, delay, failure.message, now);
    else this.#endFailed(firing, failure, outcome, now);
  }

  #scheduleRetry(firing: Firing, delay: number, reason: string, now: number): void {
    const dueAt = this.#at(now) + delay;
    this.#append({ kind: 'retrying', t: firing.t, firing: firing.firing, dueAt, reason }, now);
    this.#pendingAttempts.delete(firing.firing);
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
    let outputs: CheckedOutputs;
    try {
      const value = returned(readFiringTokens(t, firing));
      const read = firing.reads.lists;
      outputs = checkOutputs(this.net, t, value, {
        taken,
        marking: this.marking,
        at: this.#at(now),
        read,
      });
    } catch (error) {
      if (outcome === 'ok') {
        // The return value of an effect comes from outside. If it is invalid, the effect failed, not the net.
        const message = errorMessage(error);
        const failure: EffectFailure = { kind: 'error', message, error, attempt: firing.attempt };
        this.#endFailed(firing, failure, 'failed', now);
      } else this.#faultFiring(firing, error, now);
      return;
    }
    const record: Writable<WithoutSeq<Ended>> = {
      kind: 'ended',
      t: t.name,
      firing: firing.firing,
      outcome,
    };
    writeOutputs(record, outputs);
    if (reason !== undefined) record.reason = reason;
    this.#append(record, now);
    this.#emitOutlets(outputs.outlets);
  }

  #emitOutlets(outlets: readonly OutletValue[]): void {
    for (const outlet of outlets) this.#outlets.push({ ...outlet, record: this.marking.seq });
  }

  /** Records a failed firing as a fault. The fault holds what the firing would have taken, including firings in flight. */
  #faultBinding(binding: Binding, error: unknown, now: number): void {
    const t = binding.t.name;
    const record: Writable<WithoutSeq<Faulted>> = {
      kind: 'faulted',
      t,
      error: toLoggedError(error),
    };
    consumeTaken(record, binding);
    this.#append(record, now);
  }

  #faultFiring({ t, firing }: Firing, error: unknown, now: number): void {
    this.#append({ kind: 'faulted', t, firing, error: toLoggedError(error) }, now);
  }

  #crashPolicy(firing: Firing, now: number): CrashPolicy | undefined {
    const t = this.#transition(firing.t);
    try {
      return resolveCrashPolicy(t, firing);
    } catch (error) {
      this.#options.onAbort?.(firing.firing);
      this.#faultFiring(firing, error, now);
      return undefined;
    }
  }

  #append(record: WithoutSeq<JournalRecord>, now: number): void {
    const seq = this.marking.seq + 1;
    const full: JournalRecord = { seq, at: this.#at(now), ...record };
    const ending = this.#firingsRemovedBy(full);
    applyRecord(this.marking, full);
    this.#records.push(full);
    this.#touch(full);
    for (const firing of ending) this.#unindexFiring(firing);
    if ('aborted' in full) for (const id of full.aborted ?? []) this.#options.onAbort?.(id);
    if (full.kind === 'started') this.#indexFiring(seq);
    else if (full.kind === 'retrying' || full.kind === 'restarted') this.#indexFiring(full.firing);
  }

  /** Returns the firings that the record removes from the marking. */
  #firingsRemovedBy(record: JournalRecord): readonly Firing[] {
    if (!('aborted' in record) && !('firing' in record)) return none;
    const aborted = 'aborted' in record ? (record.aborted ?? none) : none;
    const ended = record.kind === 'ended' || record.kind === 'faulted' ? record.firing : undefined;
    const ids = ended === undefined ? aborted : [ended, ...aborted];
    return ids.flatMap((id) => this.marking.firings.get(id) ?? none);
  }

  #indexFiring(id: RecordSeq): void {
    const firing = this.marking.firings.get(id);
    if (firing === undefined) return;
    this.#agenda.touch(this.#firings.add(firing));
    this.#agenda.addFiringTimer(firing);
  }

  #unindexFiring(firing: Firing): void {
    this.#pendingAttempts.delete(firing.firing);
    this.#agenda.touch(this.#firings.remove(firing));
  }

  /** Notifies the agenda of every place that the record changed. */
  #touch(record: JournalRecord): void {
    if ('take' in record) for (const [place] of record.take ?? []) this.#agenda.touch(place);
    if ('reset' in record) for (const [place] of record.reset ?? []) this.#agenda.touch(place);
    if ('give' in record) {
      let index = 0;
      for (const [place, , more] of record.give ?? []) {
        this.#agenda.touch(place);
        const times = more?.times ?? 1;
        if (more?.due !== undefined) this.#watchTokens(place, record.seq, index, times, more.due);
        index += times;
      }
    }
    if (record.kind !== 'faulted') return;
    this.#agenda.touch(faultPlace.name);
    this.#agenda.touch(unhandledFaultPlace.name);
  }

  #watchTokens(place: string, seq: RecordSeq, from: number, times: number, due: Due): void {
    for (let n = 0; n < times; n++) this.#agenda.addTokenTimers(place, `${seq}.${from + n}`, due);
  }

  #transition(name: string): CompiledTransition {
    const t = this.net.byName.get(name);
    if (t !== undefined) return t;
    throw new NetBuildError(this.net.name, [
      `a firing of "${name}" is in flight, but the net has no such transition: restore it, or migrate its firings`,
    ]);
  }

  /** Returns the time for a record. It never goes back, even if the clock does. */
  #at(now: number): number {
    this.#latest = Math.max(now, this.#latest, this.marking.at);
    return this.#latest;
  }
}

function writeOutputs(
  record: Writable<RecordOutputs>,
  { give, lists, maps }: CheckedOutputs,
): void {
  if (give !== undefined) record.give = give;
  if (lists !== undefined) record.lists = lists;
  if (maps !== undefined) record.maps = maps;
}

function countTaken(binding: Binding, key: string): number {
  return binding.takes[binding.t.takes.findIndex((input) => input.key === key)]?.length ?? 0;
}
