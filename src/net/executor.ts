import { isPetrichorError } from '../core/errors.ts';
import { bind, tokensOf, tokensOfFiring } from './binding.ts';
import type { Binding, Candidate } from './binding.ts';
import type { CompiledNet, CompiledTransition } from './compile.ts';
import { faultPlace } from './fault.ts';
import { checkGives, depositOf } from './gives.ts';
import type { CheckedGives, OutletValue } from './gives.ts';
import { Heap } from './heap.ts';
import { applyRecord, listIn } from './marking.ts';
import type { Firing, Marking } from './marking.ts';
import { NetBuildError, UnknownPlaceError } from './net-errors.ts';
import { versionsOf } from './net-version.ts';
import { retryDelay } from './retry.ts';
import type { Deposit, EndedOutcome, JournalRecord, Move, Pin, RecordSeq } from './record.ts';
import { toTokenValue } from './schema.ts';
import type { EffectFailure, OnCrash } from './transition.ts';

/** After this many firings without rest, the next one becomes a fault: a net that feeds itself cannot stop its session. */
const MAX_FIRINGS_PER_SETTLE = 10_000;
/** A firing whose owners died this often has an unknown outcome, whatever its policy: it may be what kills them. */
const MAX_CRASHES = 3;
const DEFAULT_TIMEOUT_MS = 300_000;

/** What an attempt of an effect came to. */
export type EffectResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly kind: 'error' | 'cancelled'; readonly error: unknown };

/** An attempt to begin: its inputs as `run` gets them. */
export interface Attempt {
  readonly firing: RecordSeq;
  readonly firingId: string;
  readonly attempt: number;
  readonly t: CompiledTransition;
  readonly tokens: Record<string, unknown>;
}

/** A value that left the net, with the record that gave it. */
export interface SettledOutlet extends OutletValue {
  readonly record: RecordSeq;
}

/** Everything since the last time it was asked for: one settled step. */
export interface Settled {
  readonly records: readonly JournalRecord[];
  readonly outlets: readonly SettledOutlet[];
  /** Attempts to begin once the records are durable. */
  readonly attempts: readonly Attempt[];
}

export interface ExecutorOptions {
  /** Names a firing for the world outside: the same after a restart. */
  readonly firingIdOf: (firing: RecordSeq) => string;
  /** Called for each firing that was taken, reset, timed out or otherwise ended while an attempt may still run. */
  readonly onAbort?: (firing: RecordSeq) => void;
  /** Given to every transition as it is: facts that stay the same for the net's whole life. */
  readonly host?: unknown;
}

type WithoutSeq<R> = R extends JournalRecord ? Omit<R, 'seq' | 'at'> : never;

/** A transition that was enabled when it was judged. */
interface Enabled {
  readonly index: number;
  readonly priority: number;
  readonly oldest: number;
  readonly dueAt: number;
  readonly stamp: number;
}

type Timer =
  | { readonly at: number; readonly t: CompiledTransition }
  | {
      readonly at: number;
      readonly firing: RecordSeq;
      readonly attempt: number;
      readonly what: 'timeout' | 'retry';
    };

/**
 * Fires a net. It does no I/O and starts nothing: it turns inputs, results and the time into records,
 * applies them to its marking, and says which attempts to begin when the records are durable.
 * After every firing enabledness is judged again, for the transitions the firing touched.
 */
export class Executor {
  readonly net: CompiledNet;
  readonly marking: Marking;
  readonly #options: ExecutorOptions;
  readonly #firings = new Map<string, Map<RecordSeq, Firing>>();
  readonly #dirty = new Set<CompiledTransition>();
  /** By transition: bumped when it is judged again, so older entries of the heaps are stale. */
  readonly #stamps: number[];
  readonly #ready = new Heap<Enabled>(
    (a, b) =>
      a.priority > b.priority ||
      (a.priority === b.priority &&
        (a.oldest < b.oldest || (a.oldest === b.oldest && a.index < b.index))),
  );
  readonly #due = new Heap<Enabled>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.priority > b.priority),
  );
  readonly #timers = new Heap<Timer>((a, b) => a.at < b.at);
  readonly #expired: Extract<Timer, { firing: RecordSeq }>[] = [];
  #records: JournalRecord[] = [];
  #outlets: SettledOutlet[] = [];
  /** Attempts to begin, by firing; an aborted one is dropped again. */
  readonly #begun = new Map<RecordSeq, Attempt>();
  #draining = false;

  constructor(net: CompiledNet, marking: Marking, options: ExecutorOptions) {
    this.net = net;
    this.marking = marking;
    this.#options = options;
    this.#stamps = net.transitions.map(() => 0);
    for (const t of net.transitions) this.#dirty.add(t);
    for (const firing of marking.firings.values()) this.#index(firing);
    for (const tokens of marking.tokens.values()) {
      for (const token of tokens) this.#watch(token.due);
    }
  }

  /** What the one who runs the net says of itself. */
  get host(): unknown {
    return this.#options.host;
  }

  /** Puts the net's initial tokens. The first record of a new session. */
  begin(now: number): void {
    const at = this.#at(now);
    const give = this.net.initial.map(({ place, value, times }): Deposit => {
      const deposit = depositOf(this.net, place, toTokenValue(place, value), at);
      return times === 1 ? deposit : [deposit[0], deposit[1], { ...deposit[2], times }];
    });
    this.#append(
      { kind: 'injected', give, net: { hash: this.net.hash, versions: versionsOf(this.net) } },
      now,
    );
  }

  /**
   * Puts a token in an environment place.
   * @throws UnknownPlaceError, TokenSchemaError
   */
  inject(place: string, value: unknown, now: number, key?: string): void {
    const target = this.net.places.get(place);
    if (target === undefined || !target.environment)
      throw new UnknownPlaceError(this.net.name, place, environmentOf(this.net));
    const at = this.#at(now);
    const deposit = depositOf(this.net, target, toTokenValue(target, value), at);
    this.#append({ kind: 'injected', give: [deposit], ...(key !== undefined && { key }) }, now);
  }

  /** Journals something that is no firing: ownership, loaded shared state, an upgrade. */
  note(
    record: WithoutSeq<Extract<JournalRecord, { kind: 'owned' | 'loaded' | 'upgraded' }>>,
    now: number,
  ): void {
    this.#append(record, now);
    for (const t of this.net.transitions) this.#dirty.add(t);
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
    const failure = {
      kind: result.kind,
      message: messageOf(result.error),
      error: result.error,
      attempt,
    };
    this.#fail(found, failure, result.kind === 'cancelled' ? 'cancelled' : 'failed', now);
  }

  /**
   * What a new owner does first: every firing that was running when the former one died is run again or ends
   * unknown, as its policy says.
   */
  recover(now: number): void {
    for (const firing of [...this.marking.firings.values()]) {
      if (firing.retryAt !== undefined) continue;
      const t = this.#transition(firing.t);
      const policy = policyOf(t, tokensOfFiring(t, firing));
      if (policy === 'rerun' && firing.crashes < MAX_CRASHES - 1) {
        this.#restart(firing, 'crash', now);
      } else {
        const message =
          policy === 'rerun'
            ? `the process died ${MAX_CRASHES} times while this ran: it is not tried again`
            : 'the process died while this ran: it may have happened';
        this.#fail(firing, { kind: 'unknown', message, attempt: firing.attempt }, 'unknown', now);
      }
    }
  }

  /**
   * Ends what is in flight because its runtime closes: what may run again waits for the next owner,
   * the rest ends cancelled. Nothing new starts.
   */
  shutDown(now: number): void {
    this.#draining = true;
    for (const firing of [...this.marking.firings.values()]) {
      if (firing.retryAt !== undefined) continue;
      const t = this.#transition(firing.t);
      if (policyOf(t, tokensOfFiring(t, firing)) === 'rerun') {
        this.#append(
          {
            kind: 'retrying',
            t: t.name,
            firing: firing.firing,
            dueAt: this.#at(now),
            reason: 'shutdown',
          },
          now,
        );
      } else {
        this.#fail(
          firing,
          { kind: 'cancelled', message: 'the runtime was shut down', attempt: firing.attempt },
          'cancelled',
          now,
        );
      }
    }
  }

  /** No effect starts any more; what runs may end. */
  drain(): void {
    this.#draining = true;
  }

  /** Fires until nothing is enabled at `now`. */
  settle(now: number): void {
    for (let firings = 0; ; firings++) {
      const binding = this.#next(now);
      if (binding === undefined) return;
      if (binding === 'timer') continue;
      if (firings >= MAX_FIRINGS_PER_SETTLE) {
        this.#fault(
          binding.t,
          { take: movesOf(binding) },
          {
            code: 'settle_limit',
            message: `the net fired ${MAX_FIRINGS_PER_SETTLE} times without rest`,
          },
          now,
        );
        return;
      }
      if (binding.t.spec.kind === 'pure') this.#fire(binding, now);
      else this.#start(binding, now);
    }
  }

  /** True when there are records to commit. A discarded result alone can wait for the next step. */
  get hasNews(): boolean {
    return this.#records.some((record) => record.kind !== 'discarded');
  }

  /** The firings that a token in `place` would cancel if it came now. */
  wouldAbort(place: string, value: unknown): readonly RecordSeq[] {
    const target = this.net.places.get(place);
    const cancelling = (this.net.touched.get(place) ?? []).filter((t) =>
      t.takes.some((input) => input.effect !== undefined),
    );
    if (target === undefined || cancelling.length === 0) return [];
    const held = this.marking.tokens.get(place);
    try {
      this.marking.tokens.set(place, [
        ...(held ?? []),
        {
          id: `${this.marking.seq + 1}.0`,
          at: this.marking.at,
          value: toTokenValue(target, value),
        },
      ]);
      return cancelling.flatMap((t) => {
        const binding = bind(this.net, t, this.marking, this.#firings, this.marking.at);
        return (binding?.takes.flat() ?? []).flatMap((candidate) =>
          'id' in candidate ? [] : [candidate.firing],
        );
      });
    } catch {
      return [];
    } finally {
      if (held === undefined) this.marking.tokens.delete(place);
      else this.marking.tokens.set(place, held);
    }
  }

  /** When the net next changes by itself; undefined when it waits for someone. */
  get nextDueAt(): number | undefined {
    for (let top = this.#timers.peek(); top !== undefined; top = this.#timers.peek()) {
      if (!('firing' in top) || this.#isLive(top)) return top.at;
      this.#timers.pop();
    }
    return undefined;
  }

  /** The records, outlet values and attempts since this was last called. */
  takeSettled(): Settled {
    const settled = {
      records: this.#records,
      outlets: this.#outlets,
      attempts: [...this.#begun.values()],
    };
    this.#records = [];
    this.#outlets = [];
    this.#begun.clear();
    return settled;
  }

  // The transition to fire next: enabled ones by priority and age; when none is, what has fallen due, in the order it did.
  #next(now: number): Binding | 'timer' | undefined {
    for (
      let top = this.#timers.peek();
      top !== undefined && top.at <= now;
      top = this.#timers.peek()
    ) {
      this.#timers.pop();
      if ('firing' in top) this.#expired.push(top);
      else this.#dirty.add(top.t);
    }
    for (const t of this.#dirty) this.#judge(t, now);
    this.#dirty.clear();
    for (let top = this.#ready.pop(); top !== undefined; top = this.#ready.pop()) {
      const binding = this.#fresh(top, now);
      if (binding !== undefined) return binding;
    }
    this.#expired.sort((a, b) => a.at - b.at);
    while (this.#expired[0] !== undefined && !this.#isLive(this.#expired[0])) this.#expired.shift();
    for (let top = this.#due.peek(); top !== undefined; top = this.#due.peek()) {
      const [expired] = this.#expired;
      if (expired !== undefined && expired.at < top.dueAt) break;
      this.#due.pop();
      const binding = this.#fresh(top, now);
      if (binding !== undefined) return binding;
    }
    const expired = this.#expired.shift();
    if (expired === undefined) return undefined;
    this.#expire(expired, now);
    return 'timer';
  }

  #judge(t: CompiledTransition, now: number): void {
    const stamp = (this.#stamps[t.index] ?? 0) + 1;
    this.#stamps[t.index] = stamp;
    if (this.#draining && t.spec.kind === 'effect') return;
    const binding = bind(this.net, t, this.marking, this.#firings, now);
    if (binding === undefined) return;
    const entry = {
      index: t.index,
      priority: t.spec.priority,
      oldest: binding.oldest,
      dueAt: binding.dueAt,
      stamp,
    };
    (t.spec.after === undefined ? this.#ready : this.#due).push(entry);
  }

  /** The binding of a heap entry, unless it was judged again since. It will be judged again after it fires. */
  #fresh(entry: Enabled, now: number): Binding | undefined {
    const t = this.net.transitions[entry.index];
    if (t === undefined || this.#stamps[entry.index] !== entry.stamp) return undefined;
    this.#dirty.add(t);
    return bind(this.net, t, this.marking, this.#firings, now);
  }

  #fire(binding: Binding, now: number): void {
    const { t } = binding;
    const at = this.#at(now);
    let gives: CheckedGives;
    try {
      const tokens = tokensOf(
        this.net,
        binding,
        this.marking,
        this.#firings,
        this.#options.firingIdOf,
      );
      const firingId = this.#options.firingIdOf(this.marking.seq + 1);
      const returned = t.spec.run(
        tokens as never,
        { firingId, at, host: this.#options.host } as never,
      );
      gives = checkGives(this.net, t, returned, takenBy(binding), this.marking, at);
    } catch (error) {
      this.#fault(t, { take: movesOf(binding) }, error, now);
      return;
    }
    const { outlets, ...rest } = gives;
    const consumed = this.#consumed(binding);
    this.#append({ kind: 'fired', t: t.name, ...consumed, ...rest }, now);
    for (const outlet of outlets) this.#outlets.push({ ...outlet, record: this.marking.seq });
    this.#aborted(consumed.aborted);
  }

  #start(binding: Binding, now: number): void {
    const { t } = binding;
    const at = this.#at(now);
    let timeoutMs: number;
    try {
      const tokens = tokensOf(
        this.net,
        binding,
        this.marking,
        this.#firings,
        this.#options.firingIdOf,
      );
      const { timeoutMs: given = DEFAULT_TIMEOUT_MS } = t.spec;
      timeoutMs = typeof given === 'function' ? given(tokens as never) : given;
    } catch (error) {
      this.#fault(t, { take: movesOf(binding) }, error, now);
      return;
    }
    const consumed = this.#consumed(binding);
    const pin = this.#pin(t);
    this.#append(
      {
        kind: 'started',
        t: t.name,
        ...consumed,
        ...(pin !== undefined && { pin }),
        timeoutAt: at + timeoutMs,
      },
      now,
    );
    this.#aborted(consumed.aborted);
    const firing = this.marking.firings.get(this.marking.seq);
    if (firing !== undefined) this.#begin(firing, t);
  }

  #begin(firing: Firing, t: CompiledTransition): void {
    this.#begun.set(firing.firing, {
      firing: firing.firing,
      firingId: this.#options.firingIdOf(firing.firing),
      attempt: firing.attempt,
      t,
      tokens: tokensOfFiring(t, firing),
    });
  }

  #restart(firing: Firing, cause: 'retry' | 'crash', now: number): void {
    const t = this.#transition(firing.t);
    const { timeoutMs: given = DEFAULT_TIMEOUT_MS } = t.spec;
    const timeoutMs =
      typeof given === 'function' ? given(tokensOfFiring(t, firing) as never) : given;
    const record = {
      kind: 'restarted' as const,
      t: t.name,
      firing: firing.firing,
      attempt: firing.attempt + 1,
      cause,
    };
    this.#append({ ...record, timeoutAt: this.#at(now) + timeoutMs }, now);
    const restarted = this.marking.firings.get(firing.firing);
    if (restarted !== undefined) this.#begin(restarted, t);
  }

  #expire(timer: Extract<Timer, { firing: RecordSeq }>, now: number): void {
    const firing = this.marking.firings.get(timer.firing);
    if (firing === undefined) return;
    if (timer.what === 'retry') {
      // A firing that waits is started by whoever owns the session when it falls due.
      if (!this.#draining) this.#restart(firing, 'retry', now);
      return;
    }
    const seconds = (firing.timeoutAt - firing.startedAt) / 1000;
    this.#fail(
      firing,
      { kind: 'timeout', message: `no result within ${seconds} s`, attempt: firing.attempt },
      'timeout',
      now,
    );
  }

  #fail(firing: Firing, failure: EffectFailure, outcome: EndedOutcome, now: number): void {
    const t = this.#transition(firing.t);
    this.#options.onAbort?.(firing.firing);
    let delay: number | undefined;
    try {
      delay =
        failure.kind === 'error' || failure.kind === 'timeout'
          ? retryDelay(t.spec.retry, failure)
          : undefined;
    } catch (error) {
      this.#fault(t, { firing: firing.firing }, error, now);
      return;
    }
    if (delay !== undefined) {
      this.#append(
        {
          kind: 'retrying',
          t: t.name,
          firing: firing.firing,
          dueAt: this.#at(now) + delay,
          reason: failure.message,
        },
        now,
      );
      return;
    }
    this.#end(
      firing,
      outcome,
      (tokens) => t.spec.failed?.(failure, tokens as never),
      now,
      failure.message,
    );
  }

  #end(
    firing: Firing,
    outcome: EndedOutcome,
    returned: (tokens: Record<string, unknown>) => unknown,
    now: number,
    reason?: string,
  ): void {
    const t = this.#transition(firing.t);
    const at = this.#at(now);
    const taken = new Map(
      t.takes.map((input) => [input.key, firing.inputs.get(input.place)?.length ?? 0]),
    );
    let gives: CheckedGives;
    try {
      gives = checkGives(this.net, t, returned(tokensOfFiring(t, firing)), taken, this.marking, at);
    } catch (error) {
      if (outcome === 'ok' && t.spec.failed !== undefined) {
        // What an effect returns comes from outside: a value that does not fit is its failure, not the net's.
        const failure: EffectFailure = {
          kind: 'error',
          message: messageOf(error),
          error,
          attempt: firing.attempt,
        };
        this.#end(
          firing,
          'failed',
          (tokens) => t.spec.failed?.(failure, tokens as never),
          now,
          failure.message,
        );
        return;
      }
      this.#fault(t, { firing: firing.firing }, error, now);
      return;
    }
    const { outlets, ...rest } = gives;
    this.#append(
      {
        kind: 'ended',
        t: t.name,
        firing: firing.firing,
        outcome,
        ...rest,
        ...(reason !== undefined && { reason }),
      },
      now,
    );
    for (const outlet of outlets) this.#outlets.push({ ...outlet, record: this.marking.seq });
  }

  #fault(
    t: CompiledTransition,
    what: { take: readonly Move[] } | { firing: RecordSeq },
    error: unknown,
    now: number,
  ): void {
    const code = isPetrichorError(error)
      ? error.code
      : 'code' in Object(error) && typeof Object(error).code === 'string'
        ? String(Object(error).code)
        : 'error';
    this.#append(
      { kind: 'faulted', t: t.name, ...what, error: { code, message: messageOf(error) } },
      now,
    );
  }

  #consumed(binding: Binding): {
    take?: readonly Move[];
    reset?: readonly Move[];
    aborted?: readonly RecordSeq[];
  } {
    const { t } = binding;
    const taken = new Set(
      binding.takes.flat().map((candidate) => ('id' in candidate ? candidate.id : '')),
    );
    const aborted: RecordSeq[] = binding.takes
      .flat()
      .flatMap((candidate) => ('id' in candidate ? [] : [candidate.firing]));
    const reset: Move[] = [];
    for (const place of t.reset) {
      if (place.kind === 'running') {
        aborted.push(...(this.#firings.get(place.name)?.keys() ?? []));
        continue;
      }
      const ids = (this.marking.tokens.get(place.name) ?? [])
        .map((token) => token.id)
        .filter((id) => !taken.has(id));
      if (ids.length > 0) reset.push([place.name, ...ids]);
    }
    const take = movesOf(binding);
    return {
      ...(take.length > 0 && { take }),
      ...(reset.length > 0 && { reset }),
      ...(aborted.length > 0 && { aborted }),
    };
  }

  #pin(t: CompiledTransition): Pin | undefined {
    const tokens: Move[] = [];
    const lists: Record<string, readonly [number, number]> = {};
    const maps: string[] = [];
    for (const input of t.reads) {
      if (input.kind === 'list') {
        const list = listIn(this.marking, input.place);
        lists[input.place] = [list.version, list.items.length];
      } else if (input.kind === 'map') maps.push(input.place);
      else {
        const held = this.marking.tokens.get(input.place) ?? [];
        tokens.push([
          input.place,
          ...(input.mode === 'all' ? held : held.slice(0, input.count)).map((token) => token.id),
        ]);
      }
    }
    const pin = {
      ...(tokens.length > 0 && { tokens }),
      ...(Object.keys(lists).length > 0 && { lists }),
      ...(maps.length > 0 && { maps }),
    };
    return Object.keys(pin).length > 0 ? pin : undefined;
  }

  #append(record: WithoutSeq<JournalRecord>, now: number): void {
    const full = { seq: this.marking.seq + 1, at: this.#at(now), ...record } as JournalRecord;
    const about = full.kind === 'started' ? full.seq : 'firing' in full ? full.firing : undefined;
    const before = about === undefined ? undefined : this.marking.firings.get(about);
    applyRecord(this.marking, full);
    this.#records.push(full);
    this.#touch(full);
    const after = about === undefined ? undefined : this.marking.firings.get(about);
    if (after !== undefined) this.#index(after);
    else if (before !== undefined) this.#unindex(before);
  }

  /** Marks every transition that this record may have enabled or disabled. */
  #touch(record: JournalRecord): void {
    const places =
      'take' in record || 'reset' in record
        ? [...(record.take ?? []), ...('reset' in record ? (record.reset ?? []) : [])]
        : [];
    for (const [place] of places) this.#touchPlace(place);
    if ('give' in record) {
      for (const [place, , more] of record.give ?? []) {
        this.#touchPlace(place);
        this.#watch(more?.due);
      }
    }
    if (record.kind === 'faulted') this.#touchPlace(faultPlace.name);
    if ('aborted' in record) for (const firing of record.aborted ?? []) this.#begun.delete(firing);
  }

  #touchPlace(place: string): void {
    for (const t of this.net.touched.get(place) ?? []) this.#dirty.add(t);
  }

  #watch(due: Readonly<Record<string, number>> | undefined): void {
    for (const [name, at] of Object.entries(due ?? {})) {
      const t = this.net.byName.get(name);
      if (t !== undefined) this.#timers.push({ at, t });
    }
  }

  #index(firing: Firing): void {
    const place = `running(${firing.t})`;
    const known = this.#firings.get(place) ?? new Map<RecordSeq, Firing>();
    known.set(firing.firing, firing);
    this.#firings.set(place, known);
    this.#touchPlace(place);
    this.#timers.push(
      firing.retryAt === undefined
        ? { at: firing.timeoutAt, firing: firing.firing, attempt: firing.attempt, what: 'timeout' }
        : { at: firing.retryAt, firing: firing.firing, attempt: firing.attempt, what: 'retry' },
    );
  }

  #unindex(firing: Firing): void {
    const place = `running(${firing.t})`;
    this.#firings.get(place)?.delete(firing.firing);
    this.#begun.delete(firing.firing);
    this.#touchPlace(place);
  }

  #aborted(firings: readonly RecordSeq[] | undefined): void {
    for (const firing of firings ?? []) {
      for (const [place, known] of this.#firings) if (known.delete(firing)) this.#touchPlace(place);
      this.#options.onAbort?.(firing);
    }
  }

  #isLive(timer: Extract<Timer, { firing: RecordSeq }>): boolean {
    const firing = this.marking.firings.get(timer.firing);
    if (firing === undefined || firing.attempt !== timer.attempt) return false;
    return timer.what === 'retry' ? firing.retryAt === timer.at : firing.retryAt === undefined;
  }

  #transition(name: string): CompiledTransition {
    const t = this.net.byName.get(name);
    if (t === undefined)
      throw new NetBuildError(this.net.name, [
        `a firing of "${name}" is in flight, but the net has no such transition`,
      ]);
    return t;
  }

  /** Records never go back in time, whatever the clock does. */
  #at(now: number): number {
    return Math.max(now, this.marking.at);
  }
}

export function environmentOf(net: CompiledNet): readonly string[] {
  return [...net.places.values()].filter((place) => place.environment).map((place) => place.name);
}

function policyOf(t: CompiledTransition, tokens: Record<string, unknown>): OnCrash {
  const { onCrash = 'unknown' } = t.spec;
  return typeof onCrash === 'function' ? onCrash(tokens as never) : onCrash;
}

function movesOf(binding: Binding): readonly Move[] {
  return binding.t.takes.flatMap((input, index): readonly Move[] => {
    const ids = (binding.takes[index] ?? []).flatMap((candidate: Candidate) =>
      'id' in candidate ? [candidate.id] : [],
    );
    return ids.length > 0 ? [[input.place, ...ids]] : [];
  });
}

function takenBy(binding: Binding): ReadonlyMap<string, number> {
  return new Map(
    binding.t.takes.map((input, index) => [input.key, binding.takes[index]?.length ?? 0]),
  );
}

/** An error as a sentence; never its stack. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string'
    ? error
    : `something that is no error was thrown: ${typeof error}`;
}
