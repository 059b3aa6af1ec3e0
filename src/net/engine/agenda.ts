import { bind } from './binding.ts';
import type { Binding, NetState } from './binding.ts';
import type { CompiledTransition } from '../build/compile.ts';
import { Heap } from './heap.ts';
import type { Firing } from '../journal/marking.ts';
import type { Due, RecordSeq, TokenId } from '../journal/record.ts';

/** The time of a firing in flight has come: its attempt took too long, or its next attempt is due. */
export interface Expiry {
  readonly firing: RecordSeq;
  readonly attempt: number;
  readonly what: 'timeout' | 'retry';
  readonly at: number;
}

/** A token's clock for one timed transition. */
interface TokenClock {
  readonly at: number;
  readonly t: CompiledTransition;
  readonly place: string;
  readonly token: TokenId;
}

type Timer = TokenClock | Expiry;

/** What could happen next: a transition that was enabled when it was judged, or an expiry. */
interface Entry {
  readonly dueAt: number;
  readonly priority: number;
  readonly oldest: number;
  readonly index: number;
  /** Says whether the transition was judged again since. */
  readonly stamp: number;
  readonly what: Binding | Expiry;
}

/** Among what is enabled: priority, then who waited longest, then the order of the net. */
function firstByPriority(a: Entry, b: Entry): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.oldest !== b.oldest) return a.oldest < b.oldest;
  return a.index < b.index;
}

/** Among what fell due: when it did, then as above. */
function firstByTime(a: Entry, b: Entry): boolean {
  return a.dueAt === b.dueAt ? firstByPriority(a, b) : a.dueAt < b.dueAt;
}

/** The order among timers does not matter: they enter another order when their time comes. */
function firstByDueTime(a: Timer, b: Timer): boolean {
  return a.at < b.at;
}

/** Below this many timers none is looked for that has lost its meaning. */
const MIN_SWEEP_SIZE = 64;

/**
 * Which transition goes next. Only transitions that a firing touched are judged again, so that a firing costs what its
 * own places touch, whatever the size of the net; older judgements of them are recognised by their stamp.
 */
export class Agenda {
  readonly #state: NetState;
  readonly #touched = new Set<CompiledTransition>();
  readonly #stamps: number[];
  readonly #ready = new Heap<Entry>(firstByPriority);
  readonly #due = new Heap<Entry>(firstByTime);
  readonly #timers = new Heap<Timer>(firstByDueTime);
  #sweepAt = MIN_SWEEP_SIZE;
  #draining = false;

  constructor(state: NetState) {
    this.#state = state;
    this.#stamps = state.net.transitions.map(() => 0);
    this.reload();
  }

  /** Looks at the whole marking anew. */
  reload(): void {
    const { net, marking } = this.#state;
    this.#timers.clear();
    for (const t of net.transitions) this.#touched.add(t);
    for (const firing of marking.firings.values()) this.addFiringTimer(firing);
    for (const [place, tokens] of marking.tokens) {
      for (const token of tokens) this.addTokenTimers(place, token.id, token.due);
    }
  }

  /** No effect is let through any more. */
  drain(): void {
    this.#draining = true;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** True when an effect could start now, or start again. After a settling only `drain` leaves one. */
  get hasEffectToStart(): boolean {
    const { net, marking } = this.#state;
    const isDue = ({ retryAt = Infinity }: Firing): boolean => retryAt <= marking.at;
    const canStart = (t: CompiledTransition): boolean =>
      t.spec.kind === 'effect' && bind(t, this.#state, marking.at) !== undefined;
    return [...marking.firings.values()].some(isDue) || net.transitions.some(canStart);
  }

  /** The tokens (or firings) of a place changed. */
  touch(place: string): void {
    const touched = this.#state.net.touched.get(place);
    if (touched !== undefined) for (const t of touched) this.#touched.add(t);
  }

  addTokenTimers(place: string, token: TokenId, due: Due | undefined): void {
    if (due === undefined) return;
    for (const [name, at] of Object.entries(due)) {
      const t = this.#state.net.byName.get(name);
      if (t?.spec.after !== undefined) this.#addTimer({ at, t, place, token });
    }
  }

  addFiringTimer({ firing, attempt, retryAt, timeoutAt }: Firing): void {
    this.#addTimer(
      retryAt === undefined
        ? { firing, attempt, what: 'timeout', at: timeoutAt }
        : { firing, attempt, what: 'retry', at: retryAt },
    );
  }

  /** How many timers are kept. Some may have lost their meaning: never many more than have not. */
  get timers(): number {
    return this.#timers.size;
  }

  /** When the net next changes by itself; undefined when it waits for someone. */
  get nextDueAt(): number | undefined {
    for (let top = this.#timers.peek(); top !== undefined; top = this.#timers.peek()) {
      if (this.#isLive(top)) return top.at;
      this.#timers.pop();
    }
    return undefined;
  }

  /** What goes next at `now`: an enabled transition; when there is none, whatever fell due first. */
  next(now: number): Binding | Expiry | undefined {
    this.#expireTimers(now);
    for (const t of this.#touched) this.#evaluate(t, now);
    this.#touched.clear();
    return this.#first(this.#ready) ?? this.#first(this.#due);
  }

  #expireTimers(now: number): void {
    for (
      let top = this.#timers.peek();
      top !== undefined && top.at <= now;
      top = this.#timers.peek()
    ) {
      this.#timers.pop();
      if (!('firing' in top)) this.#touched.add(top.t);
      else if (this.#isLive(top)) this.#due.push(this.#expiryEntry(top));
    }
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
    const name = this.#state.marking.firings.get(what.firing)?.t ?? '';
    const t = this.#state.net.byName.get(name);
    const { priority = 0 } = t?.spec ?? {};
    return {
      dueAt: what.at,
      priority,
      oldest: what.firing * 1_000_000,
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
        // Whether it can fire once more is judged when it has fired.
        this.#touched.add(what.t);
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
