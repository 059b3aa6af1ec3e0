import { arrivalOrder, compareArrivals, LAST_ARRIVAL } from './arrival-order.ts';
import type { ArrivalOrder } from './arrival-order.ts';
import { bind } from './binding.ts';
import type { Binding, NetState } from './binding.ts';
import type { CompiledTransition } from '../build/compile.ts';
import { Heap } from './heap.ts';
import type { Firing, Token } from '../journal/marking.ts';
import type { RecordSeq, TokenId } from '../journal/record.ts';

/** A due time of a firing in flight: its attempt times out, or its next attempt starts. */
export interface Expiry {
  readonly firing: RecordSeq;
  readonly attempt: number;
  readonly what: 'timeout' | 'retry';
  readonly at: number;
}

/** The clock of one token for one timed transition. */
interface TokenClock {
  readonly at: number;
  readonly t: CompiledTransition;
  readonly place: string;
  readonly token: TokenId;
}

type Timer = TokenClock | Expiry;

/** A candidate for the next event: a transition that was enabled when it was evaluated, or an expiry. */
interface Entry {
  readonly dueAt: number;
  readonly priority: number;
  readonly oldest: ArrivalOrder;
  readonly index: number;
  /** Differs from the transition's current stamp if the transition was evaluated again since. */
  readonly stamp: number;
  readonly what: Binding | Expiry;
}

/** The order of enabled transitions: priority, then the oldest token, then the order of the net. */
function firstByPriority(a: Entry, b: Entry): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  const arrival = compareArrivals(a.oldest, b.oldest);
  return arrival === 0 ? a.index < b.index : arrival < 0;
}

/** The order of due entries: due time, then as in `firstByPriority`. */
function firstByTime(a: Entry, b: Entry): boolean {
  return a.dueAt === b.dueAt ? firstByPriority(a, b) : a.dueAt < b.dueAt;
}

/** The order of timers by due time. Ties need no order, because due timers enter the heap of due entries. */
function firstByDueTime(a: Timer, b: Timer): boolean {
  return a.at < b.at;
}

/** With fewer timers than this, stale timers are not swept. */
const MIN_SWEEP_SIZE = 64;

/**
 * Selects the next transition to fire. Only transitions whose places changed are evaluated again, so the cost of a
 * firing depends on its places and not on the size of the net. Stale entries are recognized by their stamp.
 */
export class Agenda {
  readonly #state: NetState;
  /** The transitions to evaluate, once each. */
  readonly #touched: CompiledTransition[] = [];
  /**
   * By index of a transition: twice the number of its evaluations, and one more if it is in `#touched`. A set of the
   * touched transitions costs more than evaluating most of its members.
   */
  readonly #stamps: number[];
  readonly #ready = new Heap<Entry>(firstByPriority);
  readonly #due = new Heap<Entry>(firstByTime);
  readonly #timers = new Heap<Timer>(firstByDueTime);
  #sweepAt = MIN_SWEEP_SIZE;
  #draining = false;

  constructor(state: NetState) {
    this.#state = state;
    this.#stamps = Array<number>(state.net.transitions.length).fill(0);
    this.reload();
  }

  /** Evaluates the whole marking again. */
  reload(): void {
    const { net, marking, firings } = this.#state;
    this.#timers.clear();
    this.#ready.clear();
    this.#due.clear();
    // A transition that takes a token can only be enabled if the place of that token is marked.
    for (const t of net.transitions)
      if (t.takes.every(({ count }) => count === 0)) this.#touchTransition(t);
    for (const place of firings.keys()) this.touch(place);
    for (const firing of marking.firings.values()) this.addFiringTimer(firing);
    for (const [place, tokens] of marking.tokens) {
      this.touch(place);
      for (const token of tokens) this.addTokenTimers(place, token);
    }
  }

  /** From now on `next` returns no effect. */
  drain(): void {
    this.#draining = true;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** True if an effect could start or restart now. After settling, this is possible only after `drain`. */
  get hasEffectToStart(): boolean {
    const { net, marking } = this.#state;
    const isDue = ({ retryAt = Infinity }: Firing): boolean => retryAt <= marking.at;
    const canStart = (t: CompiledTransition): boolean =>
      t.spec.kind === 'effect' && bind(t, this.#state, marking.at) !== undefined;
    return [...marking.firings.values()].some(isDue) || net.transitions.some(canStart);
  }

  /** Marks the transitions of a place for evaluation, because its tokens or firings changed. */
  touch(place: string): void {
    const touched = this.#state.net.touched.get(place);
    if (touched !== undefined) for (const t of touched) this.#touchTransition(t);
  }

  #touchTransition(t: CompiledTransition): void {
    const stamp = this.#stamps[t.index] ?? 0;
    if (stamp % 2 === 1) return;
    this.#stamps[t.index] = stamp + 1;
    this.#touched.push(t);
  }

  /** Adds the clocks of a token. */
  addTokenTimers(place: string, { id, due }: Token): void {
    if (due === undefined) return;
    for (const [name, at] of Object.entries(due)) {
      const t = this.#state.net.byName.get(name);
      if (t?.spec.after !== undefined) this.#addTimer({ at, t, place, token: id });
    }
  }

  addFiringTimer({ id: firing, attempt, retryAt, timeoutAt }: Firing): void {
    this.#addTimer(
      retryAt === undefined
        ? { firing, attempt, what: 'timeout', at: timeoutAt }
        : { firing, attempt, what: 'retry', at: retryAt },
    );
  }

  /** The number of timers, including stale ones. Sweeps keep the number of stale timers in proportion to live ones. */
  get timers(): number {
    return this.#timers.size;
  }

  /** The time of the next change without input, epoch milliseconds. Undefined if the net waits for input. */
  get nextDueAt(): number | undefined {
    for (let top = this.#timers.peek(); top !== undefined; top = this.#timers.peek()) {
      if (this.#isLive(top)) return top.at;
      this.#timers.pop();
    }
    return undefined;
  }

  /** Returns the next event at `now`: an enabled transition, or otherwise the entry that fell due first. */
  next(now: number): Binding | Expiry | undefined {
    this.#expireTimers(now);
    this.#evaluateTouched(now);
    return this.#first(this.#ready) ?? this.#first(this.#due);
  }

  /** Returns the next enabled transition without a clock. What is due waits. */
  nextUntimed(now: number): Binding | undefined {
    this.#evaluateTouched(now);
    const next = this.#first(this.#ready);
    return next === undefined || 'what' in next ? undefined : next;
  }

  #expireTimers(now: number): void {
    for (
      let top = this.#timers.peek();
      top !== undefined && top.at <= now;
      top = this.#timers.peek()
    ) {
      this.#timers.pop();
      if (!('firing' in top)) this.#touchTransition(top.t);
      else if (this.#isLive(top)) this.#due.push(this.#expiryEntry(top));
    }
  }

  #evaluateTouched(now: number): void {
    for (const t of this.#touched) this.#evaluate(t, now);
    this.#touched.length = 0;
  }

  #evaluate(t: CompiledTransition, now: number): void {
    const stamp = (this.#stamps[t.index] ?? 0) + 1;
    this.#stamps[t.index] = stamp;
    if (this.#draining && t.spec.kind === 'effect') return;
    const what = bind(t, this.#state, now);
    if (what === undefined) return;
    const { dueAt, oldest } = what;
    const entry = { dueAt, priority: t.spec.priority, oldest, index: t.index, stamp, what };
    (t.spec.after === undefined ? this.#ready : this.#due).push(entry);
  }

  #expiryEntry(what: Expiry): Entry {
    const { net, marking } = this.#state;
    const firing = marking.firings.get(what.firing);
    const t = firing === undefined ? undefined : net.byName.get(firing.t);
    const { priority = 0 } = t?.spec ?? {};
    return {
      dueAt: what.at,
      priority,
      oldest: firing === undefined ? LAST_ARRIVAL : arrivalOrder(firing),
      index: t?.index ?? 0,
      stamp: 0,
      what,
    };
  }

  #first(heap: Heap<Entry>): Binding | Expiry | undefined {
    for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
      const { what } = entry;
      if ('what' in what) {
        if (this.#isLive(what)) return what;
      } else if (this.#stamps[entry.index] === entry.stamp) {
        // Evaluate it again after it fired: it may be enabled once more.
        this.#touchTransition(what.t);
        return what;
      }
    }
    return undefined;
  }

  #addTimer(timer: Timer): void {
    this.#timers.push(timer);
    if (this.#timers.size <= this.#sweepAt) return;
    this.#timers.keep((kept) => this.#isLive(kept));
    this.#sweepAt = Math.max(MIN_SWEEP_SIZE, 2 * this.#timers.size);
  }

  #isLive(timer: Timer): boolean {
    const { firings, tokens } = this.#state.marking;
    if ('token' in timer) {
      return tokens.get(timer.place)?.some((token) => token.id === timer.token) ?? false;
    }
    const firing = firings.get(timer.firing);
    if (firing === undefined || firing.attempt !== timer.attempt) return false;
    return timer.what === 'retry' ? firing.retryAt === timer.at : firing.retryAt === undefined;
  }
}
