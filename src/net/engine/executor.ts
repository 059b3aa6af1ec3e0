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
import { applyRecord } from '../journal/marking.ts';
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

/** A firing whose owners died this often has an unknown outcome, whatever its policy: it may be what kills them. */
const MAX_CRASHES = 3;
const DEFAULT_TIMEOUT_MS = 300_000;
/** The reason of a `retrying` record whose attempt was ended by the shutdown of its runtime. */
export const SHUTDOWN = 'shutdown';

/**
 * What an executor is told by the one who runs it: how firings are named outside, and who stops an attempt that is no
 * longer wanted.
 */
export interface ExecutorOptions {
  /** Names a firing for the world outside: the same after a restart. */
  readonly toFiringId: (firing: RecordSeq) => string;
  /** Called for each firing that was taken, reset, timed out or otherwise ended while an attempt may still run. */
  readonly onAbort?: (firing: RecordSeq) => void;
  /** Given to every transition as it is: facts that stay the same for the net's whole life. */
  readonly host?: unknown;
}

type WithoutSeq<R> = R extends JournalRecord ? Omit<R, 'seq' | 'at'> : never;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const none: readonly never[] = [];

/**
 * Fires a net. It does no I/O and starts nothing: it turns inputs, results and the time into records,
 * applies them to its marking, and says which attempts to begin when the records are durable.
 * After every firing enabledness is judged again, for the transitions the firing touched.
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
  /** Attempts to begin, by firing; an aborted one is dropped again. */
  readonly #pendingAttempts = new Map<RecordSeq, Attempt>();
  /** The latest time seen: what fell due stays due, whatever the clock does. */
  #latest = 0;

  constructor(net: CompiledNet, marking: Marking, options: ExecutorOptions) {
    this.net = net;
    this.marking = marking;
    this.#options = options;
    this.#state = { net, marking, firings: this.#firings.byPlace, toFiringId: options.toFiringId };
    for (const firing of marking.firings.values()) this.#firings.add(firing);
    this.#agenda = new Agenda(this.#state);
  }

  /** What the one who runs the net says of itself. */
  get host(): unknown {
    return this.#options.host;
  }

  /** Puts the net's initial tokens. The first record of a new session. */
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
   * Puts a token in an environment place.
   * @throws UnknownPlaceError, TokenSchemaError
   */
  inject(place: string, value: unknown, now: number, key?: string): void {
    const target = environmentPlace(this.net, place);
    const deposit = toDeposit(this.net, target, parseTokenValue(target, value), this.#at(now));
    this.#append({ kind: 'injected', give: [deposit], ...(key !== undefined && { key }) }, now);
  }

  /** Journals something that is no firing: ownership, loaded shared state, an upgrade. */
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

  /** Takes the result of an attempt. One for a firing or attempt that is over is journaled as discarded. */
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
   * What a new owner does first: every firing that was running when the former one died is run again or ends
   * unknown, as its policy says.
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
          ? `the process died ${MAX_CRASHES} times while this ran: it is not tried again`
          : 'the process died while this ran: it may have happened';
      this.#fail(firing, { kind: 'unknown', message, attempt: firing.attempt }, 'unknown', now);
    }
  }

  /**
   * Ends what is in flight because its runtime closes. A firing that may run again waits for the next owner. Of the
   * others, one that stopped ends `cancelled`, and one that still runs ends `unknown`: it may still happen. Nothing new
   * starts.
   * @param unbegun firings whose attempt was not begun: nothing happened, so they wait too.
   * @param stillRunning firings whose attempt did not stop when it was told to.
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
   * True when a firing in flight must not run again without somebody's word: how it ends matters even when nobody waits
   * for its result any more.
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

  /** No effect starts any more; what runs may end. */
  drain(): void {
    this.#agenda.drain();
  }

  /** Fires until nothing is enabled at `now`. */
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

  /** True when there are records to commit. A discarded result alone can wait for the next step. */
  get hasUncommitted(): boolean {
    return this.#records.some((record) => record.kind !== 'discarded');
  }

  /** The firings that a token in `place` would cancel if it came now. */
  findAborted(place: string, value: unknown): readonly RecordSeq[] {
    const target = this.net.places.get(place);
    const cancelling = (this.net.touched.get(place) ?? []).filter((t) => t.cancels);
    if (target === undefined || cancelling.length === 0) return [];
    const { tokens, seq, at } = this.marking;
    const held = tokens.get(place);
    try {
      const token = { id: `${seq + 1}.0`, at, value: parseTokenValue(target, value) };
      tokens.set(place, [...(held ?? []), token]);
      return cancelling.flatMap((t) => {
        const binding = bind(t, this.#state, at);
        return binding === undefined ? [] : firingsEnded(binding, this.#state);
      });
    } catch {
      return [];
    } finally {
      if (held === undefined) tokens.delete(place);
      else tokens.set(place, held);
    }
  }

  /** When the net next changes by itself; undefined when it waits for someone. */
  get nextDueAt(): number | undefined {
    return this.#agenda.nextDueAt;
  }

  /** When someone must look at the net again: when it changes by itself, or at once if `drain` holds back what could start. */
  get nextRunAt(): number | undefined {
    return this.#agenda.isDraining ? this.settledNextRunAt : this.nextDueAt;
  }

  /** What `nextRunAt` said when the marking was settled for the last time, by this executor or another. */
  get settledNextRunAt(): number | undefined {
    return this.#agenda.hasEffectToStart ? this.marking.at : this.nextDueAt;
  }

  /** The records, outlet values and attempts since this was last called. */
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
      // A firing that waits is started by whoever owns the session when it falls due.
      if (!this.#agenda.isDraining) this.#restart(firing, 'retry', now);
      return;
    }
    const policy = this.#crashPolicy(firing, now);
    if (policy !== undefined)
      this.#failLate(firing, now, policy === 'rerun' ? 'timeout' : 'unknown');
  }

  /**
   * Ends an attempt that took too long: `timeout` when it stopped or may run again; `unknown` when it may still happen.
   * A declared retry is made in both cases.
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
        // What an effect returns comes from outside: a value that does not fit is its failure, not the net's.
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

  /** A firing that could not be: what it would have taken is held by the fault, firings in flight included. */
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

  /** The firings that are no longer there when this record is applied. */
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

  /** Tells the agenda of every place that this record changed. */
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
      `a firing of "${name}" is in flight, but the net has no such transition`,
    ]);
  }

  /** Records never go back in time, and what fell due stays due, whatever the clock does. */
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

/** @throws Error when the transition says no usable time */
function resolveTimeoutMs(t: CompiledTransition, tokens: () => Record<string, unknown>): number {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = t.spec;
  const ms = typeof timeoutMs === 'function' ? timeoutMs(tokens()) : timeoutMs;
  if (Number.isFinite(ms)) return Math.max(0, ms);
  throw new RangeError(`"${t.name}" says a timeout of ${ms} ms: it must be a finite number`);
}

/** @throws what an `onCrash` function throws */
function resolveCrashPolicy(t: CompiledTransition, firing: Firing): CrashPolicy {
  const { onCrash = 'unknown' } = t.spec;
  return typeof onCrash === 'function' ? onCrash(readFiringTokens(t, firing)) : onCrash;
}

function countTaken(binding: Binding, key: string): number {
  return binding.takes[binding.t.takes.findIndex((input) => input.key === key)]?.length ?? 0;
}
