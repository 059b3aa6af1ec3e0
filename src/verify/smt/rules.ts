import { CounterChange } from './counter-change.ts';
import type { CounterEffects } from './counter-change.ts';
import { UNLIMITED } from '../properties/bounds.ts';
import type {
  ExpandedInput,
  ExpandedNet,
  ExpandedOutput,
  ExpandedTransition,
} from '../system/expand.ts';
import { conjunction, counter, counterName, outside } from './terms.ts';
import type { Term } from './terms.ts';

/** One kind of step of the net, for any number of tokens. */
export interface Rule extends CounterEffects {
  readonly label: string;
  /** The index of the transition that fires or starts; -1 for none. */
  readonly begins: number;
  readonly guards: readonly Term[];
}

/**
 * Returns the steps of the expanded net with counters instead of tokens. They allow any number of faults, every declared
 * multiplicity and, unless `boundedEnvironment`, any number of tokens from outside. Keys, ages and phases are omitted,
 * so the rules have all behaviors of the net and possibly more.
 */
export function toRules(net: ExpandedNet, boundedEnvironment: boolean): readonly Rule[] {
  return new Rules(net, boundedEnvironment).all();
}

class Rules {
  readonly #net: ExpandedNet;
  readonly #bounded: boolean;

  constructor(net: ExpandedNet, bounded: boolean) {
    this.#net = net;
    this.#bounded = bounded;
  }

  all(): readonly Rule[] {
    return [
      ...this.#net.environment.map(({ place }, index) => this.#injection(place, index)),
      ...this.#net.transitions.flatMap((t) => [
        ...(t.timed === 'never' ? [] : this.#firings(t)),
        ...this.#broken(t),
        ...this.#ends(t),
      ]),
    ];
  }

  #injection(place: number, index: number): Rule {
    const change = new CounterChange();
    change.add(place, 1);
    const guards: Term[] = [];
    if (this.#bounded) {
      guards.push(`(> ${counterName(outside(index))} 0)`);
      change.add(outside(index), -1);
    }
    return this.#rule(`injected ${this.#name(place)}`, -1, guards, change);
  }

  #firings(t: ExpandedTransition): readonly Rule[] {
    const guards = [...enabled(t), ...this.#priorityGuards(t)];
    const rules: Rule[] = [];
    if (t.kind === 'effect') {
      const change = this.#consume(t, true);
      change.add(t.running, 1);
      rules.push(this.#rule(`started ${t.name}`, t.index, guards, change));
    } else {
      for (const { name, outputs } of t.alternatives) {
        const change = this.#consume(t, true);
        const limits = outputs.map((output, at) => this.#give(change, output, at, t));
        rules.push(
          this.#rule(`fired ${t.name} ${name}`, t.index, [...guards, ...limits.flat()], change),
        );
      }
    }
    return [
      ...rules,
      ...this.#faults(`faulted ${t.name}`, guards, () => this.#consume(t, false), t.takes),
    ];
  }

  /** Rules for a key function that throws: a fault that holds one token. */
  #broken(t: ExpandedTransition): readonly Rule[] {
    return t.takes
      .filter(({ slot }) => slot >= 0)
      .flatMap((input) => {
        const guards = [...permitted(t), atLeast(input.place, 1)];
        const change = (): CounterChange => new CounterChange().add(input.place, -1);
        const taken = [{ ...input, mode: 'one' as const, count: 1 }];
        return this.#faults(`faulted ${t.name} key`, guards, change, taken);
      });
  }

  #ends(t: ExpandedTransition): readonly Rule[] {
    if (t.running < 0) return [];
    const guards = [atLeast(t.running, 1)];
    const ended = t.alternatives.map(({ name, outputs }) => {
      const change = new CounterChange().add(t.running, -1);
      const limits = outputs.map((output, at) => this.#give(change, output, at, t));
      return this.#rule(`ended ${t.name} ${name}`, -1, [...guards, ...limits.flat()], change);
    });
    const change = (): CounterChange => new CounterChange().add(t.running, -1);
    const taken = [{ place: t.running, mode: 'one' as const, count: 1, slot: -1 }];
    return [...ended, ...this.#faults(`faulted running ${t.name}`, guards, change, taken)];
  }

  /** Rules for a fault: to `net.fault`, or to `net.fault.unhandled` if the firing held a fault; both if undecided. */
  #faults(
    label: string,
    guards: readonly Term[],
    change: () => CounterChange,
    taken: readonly ExpandedInput[],
  ): readonly Rule[] {
    if (this.#net.faults === 0) return [];
    const holds = taken.map((input) => this.#holdsFault(input));
    const places = holds.includes('surely')
      ? [this.#net.unhandledFault]
      : holds.includes('maybe')
        ? [this.#net.fault, this.#net.unhandledFault]
        : [this.#net.fault];
    return places.map((place) => this.#rule(label, -1, guards, change().add(place, 1)));
  }

  #holdsFault({ place, count }: ExpandedInput): 'surely' | 'maybe' | 'no' {
    if (place === this.#net.fault) return count > 0 ? 'surely' : 'maybe';
    const effect = this.#net.transitions[this.#net.places[place]?.effect ?? -1];
    const input = effect?.takes.find((take) => take.place === this.#net.fault);
    if (input === undefined) return 'no';
    return input.count > 0 && count > 0 ? 'surely' : 'maybe';
  }

  #consume(t: ExpandedTransition, resets: boolean): CounterChange {
    const change = new CounterChange();
    for (const { place, mode, count } of t.takes) {
      if (mode === 'all') change.empty(place);
      else change.add(place, -count);
    }
    if (resets) for (const place of t.resets) change.empty(place);
    return change;
  }

  /** Adds an output to the change. Returns the conditions on its number of tokens. */
  #give(
    change: CounterChange,
    output: ExpandedOutput,
    at: number,
    t: ExpandedTransition,
  ): readonly Term[] {
    if (output.each >= 0) {
      const input = t.takes[output.each];
      if (input === undefined) return [];
      if (input.mode !== 'all') {
        change.give(output, String(input.count), input.count);
        return [];
      }
      if (t.kind === 'pure') {
        change.give(output, counter(input.place), undefined, input.place);
        return [];
      }
      // The number of tokens that a firing took is not stored, so it may be any number.
      const free = change.free(at);
      change.give(output, free, undefined);
      return [`(>= ${free} ${input.count})`];
    }
    if (output.min === output.declared) {
      change.give(output, String(output.min), output.min);
      return [];
    }
    const free = change.free(at);
    change.give(output, free, undefined);
    return [`(>= ${free} ${output.min})`, `(<= ${free} ${output.declared})`];
  }

  /**
   * Guards that no transition of higher priority is enabled. Keyed transitions are excluded, and effects if the owner may
   * be closing, because these may be unable to fire.
   */
  #priorityGuards(t: ExpandedTransition): readonly Term[] {
    return this.#net.transitions
      .filter(
        (other) =>
          other.timed === 'no' &&
          !other.keyed &&
          (t.timed !== 'no' || other.priority > t.priority) &&
          !(other.kind === 'effect' && this.#net.bounds.shutdowns),
      )
      .map((other) => `(not ${conjunction(enabled(other))})`);
  }

  #rule(label: string, begins: number, guards: readonly Term[], change: CounterChange): Rule {
    return { label, begins, guards, ...change.result((place) => this.#name(place)) };
  }

  #name(place: number): string {
    return this.#net.places[place]?.name ?? '';
  }
}

/** Conditions for `t` to fire, without its inputs. */
function permitted(t: ExpandedTransition): readonly Term[] {
  return [
    ...t.unless.map((place) => `(= ${counter(place)} 0)`),
    ...(t.running >= 0 && Number.isFinite(t.concurrency)
      ? [`(< ${counter(t.running)} ${t.concurrency})`]
      : []),
    ...t.reads.filter(({ count }) => count > 0).map(({ place, count }) => atLeast(place, count)),
  ];
}

/** Conditions for `t` to fire, ignoring keys and clocks. */
export function enabled(t: ExpandedTransition): readonly Term[] {
  return [
    ...permitted(t),
    ...t.takes.filter(({ count }) => count > 0).map(({ place, count }) => atLeast(place, count)),
  ];
}

function atLeast(place: number, tokens: number): Term {
  return `(>= ${counter(place)} ${tokens})`;
}

/** True if the bounds limit the number of faults. The rules allow any number. */
export function limitsFaults({ faults }: ExpandedNet): boolean {
  return faults !== UNLIMITED && faults > 0;
}
