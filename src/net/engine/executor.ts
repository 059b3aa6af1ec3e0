import { Agenda } from './agenda.ts';
import { readTokens } from './binding.ts';
import type { Binding, NetState } from './binding.ts';
import type { CompiledNet } from '../build/compile.ts';
import { consume, consumeTaken, createPin } from './consume.ts';
import { FiringsInFlight } from './firings-in-flight.ts';
import { checkOutputs, toDeposit } from './check-outputs.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { findAbortedFirings } from './find-aborted-firings.ts';
import { FiringAttempts } from './firing-attempts.ts';
import { guard } from './guard.ts';
import { environmentPlace } from './injection.ts';
import { resolveTimeoutMs } from './attempt-timeout.ts';
import type { Marking } from '../journal/marking.ts';
import { toLoggedError } from './logged-error.ts';
import type {
  Deposit,
  Faulted,
  Fired,
  JournalRecord,
  RecordSeq,
  Started,
} from '../journal/record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';
import type { EffectResult, Settled } from './settled.ts';
import { countForLimit, limitFirings, SettleLimit, SettleLimitError } from './settle-limit.ts';
import { StepRecorder, writeOutputs, type NewRecord, type Writable } from './step-recorder.ts';

/**
 * Fires the transitions of a net. It does no I/O and starts no attempt: it turns inputs, results and the time into
 * records, applies them to its marking, and lists the attempts to begin after the records are durable. After each
 * firing it evaluates the affected transitions again.
 */
export class Executor {
  readonly net: CompiledNet;
  readonly marking: Marking;
  readonly #options: ExecutorOptions;
  readonly #firings: FiringsInFlight;
  readonly #state: NetState;
  readonly #agenda: Agenda;
  readonly #step: StepRecorder;
  readonly #attempts: FiringAttempts;

  constructor(net: CompiledNet, marking: Marking, options: ExecutorOptions) {
    this.net = net;
    this.marking = marking;
    this.#options = options;
    this.#firings = new FiringsInFlight(net);
    this.#state = { net, marking, firings: this.#firings.byPlace, toFiringId: options.toFiringId };
    this.#firings.reload(marking.firings.values());
    this.#agenda = new Agenda(this.#state);
    this.#step = new StepRecorder(marking, this.#firings, this.#agenda, options.onAbort);
    this.#attempts = new FiringAttempts(net, options, this.#step);
  }

  /** The context that every `run` receives. */
  get host(): unknown {
    return this.#options.host;
  }

  /** Adds the initial tokens of the net, in the first record of a new session. */
  begin(now: number): void {
    const at = this.#step.at(now);
    const give = this.net.initial.map(({ place, value, times }): Deposit => {
      const deposit = toDeposit(this.net, place, parseTokenValue(place, value), at);
      return times === 1 ? deposit : [deposit[0], deposit[1], { ...deposit[2], times }];
    });
    const net = { hash: this.net.hash, versions: this.net.versions };
    this.#step.append({ seq: this.#step.nextSeq, at, kind: 'injected', give, net });
  }

  /**
   * Adds a token to an environment place.
   * @throws UnknownPlaceError if the net has no environment place of this name.
   * @throws TokenSchemaError if the value does not match the schema of the place.
   */
  inject(place: string, value: unknown, now: number, key?: string): void {
    const target = environmentPlace(this.net, place);
    const at = this.#step.at(now);
    const give = [toDeposit(this.net, target, parseTokenValue(target, value), at)];
    const record = { seq: this.#step.nextSeq, at, kind: 'injected', give } as const;
    this.#step.append(key === undefined ? record : { ...record, key });
  }

  /** Appends a record that is not a firing: ownership, loaded shared state, or an upgrade. */
  appendSystemRecord(
    record: NewRecord<Extract<JournalRecord, { kind: 'owned' | 'loaded' | 'upgraded' }>>,
    now: number,
  ): void {
    this.#step.append({ seq: this.#step.nextSeq, at: this.#step.at(now), ...record });
  }

  /** Records the result of an attempt. If its firing or attempt has ended already, the result is journaled as discarded. */
  finish(firing: RecordSeq, attempt: number, result: EffectResult, now: number, t: string): void {
    this.#attempts.finish(firing, attempt, result, now, t);
  }

  /**
   * Recovers a session under a new owner: each firing that was running when the previous owner died is run again or
   * ends as unknown, depending on its crash policy. It is called before any other input.
   */
  recover(now: number): void {
    this.#attempts.recover(now);
  }

  /**
   * Ends the firings in flight because the runtime closes. A firing that may run again waits for the next owner. Any
   * other firing ends: `cancelled` if its attempt stopped, `unknown` if its attempt still runs, because its effect may
   * still happen. No new effect starts.
   * @param states.unbegun firings whose attempt did not begin. Nothing happened, so they also wait for the next owner.
   * @param states.stillRunning firings whose attempt did not stop after its signal was aborted.
   */
  shutDown(
    now: number,
    states: {
      readonly unbegun?: ReadonlySet<RecordSeq>;
      readonly stillRunning?: ReadonlySet<RecordSeq>;
    } = {},
  ): void {
    this.#agenda.drain();
    this.#attempts.shutDown(now, states);
  }

  /**
   * True if the crash policy forbids running a firing again. The outcome of its current attempt then matters even if the
   * firing is being cancelled.
   */
  isRerunForbidden(firing: RecordSeq): boolean {
    return this.#attempts.isRerunForbidden(firing);
  }

  /** From now on no effect starts. Running attempts may end. */
  drain(): void {
    this.#agenda.drain();
  }

  /** Fires until no transition is enabled and nothing is due at `now`. */
  settle(now: number): void {
    this.#settle(now, (at) => this.#agenda.next(at));
  }

  /** Fires until no transition is enabled. Timers that are due wait, because more inputs follow. */
  settleUntimed(now: number): void {
    this.#settle(now, (at) => this.#agenda.nextUntimed(at));
  }

  #settle(now: number, findNext: (at: number) => ReturnType<Agenda['next']>): void {
    const most = limitFirings(countForLimit(this.marking));
    let limit: SettleLimit | undefined;
    for (let firings = 0; ; firings++) {
      const next = findNext(this.#step.at(now));
      if (next === undefined) return;
      if (firings === most) limit = new SettleLimit(this.#step.records);
      if ('what' in next) {
        // While draining, leave a retry to the owner of the session at the time it falls due.
        if (next.what !== 'retry' || !this.#agenda.isDraining) this.#attempts.expire(next, now);
      } else if (next.broken !== undefined) this.#faultBinding(next, next.broken.error, now);
      else if (limit?.refuses(next.t.name) === true)
        this.#faultBinding(next, new SettleLimitError(most), now);
      else if (next.t.spec.kind === 'pure') this.#fire(next, now);
      else this.#start(next, now);
    }
  }

  /** True if there are records to commit. A discarded result alone can wait for the next step. */
  get hasUncommitted(): boolean {
    return this.#step.hasUncommitted;
  }

  /** Returns the firings that a token of this value in `place` would cancel now. */
  findAborted(place: string, value: unknown): readonly RecordSeq[] {
    return findAbortedFirings(this.#state, place, value);
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
    return this.#step.takeSettled();
  }

  #fire(binding: Binding, now: number): void {
    const { t } = binding;
    const at = this.#step.at(now);
    const outputs = this.#guard(binding, now, () => {
      const firingId = this.#options.toFiringId(this.#step.nextSeq);
      const firing = { firingId, at, host: this.#options.host };
      const returned = t.spec.run(readTokens(binding, this.#state), firing);
      const taken = (input: string): number => countTaken(binding, input);
      const { marking } = this;
      if (t.spec.labels === undefined)
        return checkOutputs(this.net, t, returned, { taken, marking, at });
      const tokens = (): Record<string, unknown> => readTokens(binding, this.#state);
      return checkOutputs(this.net, t, returned, { taken, marking, at, tokens });
    });
    if (outputs === undefined) return;
    const record: Writable<Fired> = { seq: this.#step.nextSeq, at, kind: 'fired', t: t.name };
    consume(record, binding, this.#state);
    writeOutputs(record, outputs);
    this.#step.append(record);
    this.#step.emitOutlets(outputs.outlets);
  }

  #start(binding: Binding, now: number): void {
    const { t } = binding;
    const timeoutMs = this.#guard(binding, now, () =>
      resolveTimeoutMs(t, () => readTokens(binding, this.#state)),
    );
    if (timeoutMs === undefined) return;
    const at = this.#step.at(now);
    const record: Writable<Started> = {
      seq: this.#step.nextSeq,
      at,
      kind: 'started',
      t: t.name,
      timeoutAt: at + timeoutMs,
    };
    consume(record, binding, this.#state);
    const pin = createPin(t, this.marking);
    if (pin !== undefined) record.pin = pin;
    this.#step.append(record);
    this.#attempts.add(this.marking.seq, t);
  }

  #guard<T extends {}>(binding: Binding, now: number, run: () => T): T | undefined {
    return guard(run, (error) => this.#faultBinding(binding, error, now));
  }

  /** Records a failed firing as a fault. The fault holds what the firing would have taken, including firings in flight. */
  #faultBinding(binding: Binding, error: unknown, now: number): void {
    const record: Writable<Faulted> = {
      seq: this.#step.nextSeq,
      at: this.#step.at(now),
      kind: 'faulted',
      t: binding.t.name,
      error: toLoggedError(error),
    };
    consumeTaken(record, binding);
    this.#step.append(record);
  }
}

function countTaken(binding: Binding, key: string): number {
  return binding.takes[binding.t.takes.findIndex((input) => input.key === key)]?.length ?? 0;
}
