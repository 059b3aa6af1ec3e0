import type { Clock } from './clock.ts';

interface Alarm {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock for tests and demonstrations. Its time moves only in `advance`. */
export class SimulatedClock implements Clock {
  #now: number;
  readonly #alarms = new Set<Alarm>();

  constructor(now = 0) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;

  readonly at = (at: number, callback: () => void): (() => void) => {
    const alarm = { at, callback };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  };

  /** When the next callback is due, in epoch milliseconds. Undefined if no callback is scheduled. */
  get nextAt(): number | undefined {
    let next: number | undefined;
    for (const { at } of this.#alarms) next = next === undefined ? at : Math.min(next, at);
    return next;
  }

  /** Advances the time by `ms` and runs the callbacks that fall due, each at its due time, in order of due time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#alarms]
        .filter(({ at }) => at <= end)
        .toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#alarms.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }
}
