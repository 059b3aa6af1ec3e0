import {
  compile,
  Driver,
  emptyMarking,
  Executor,
  listIn,
  SimulatedClock,
  valuesIn,
} from 'petrichor/net';
import type { JournalRecord, ListPlace, Marking, Net, Outlet, Place } from 'petrichor/net';

/** A net that runs as in earnest, over a journal in memory, on a clock that only its story moves. */
export class NetSimulation {
  readonly clock: SimulatedClock;
  /** The journal. */
  readonly records: JournalRecord[] = [];
  readonly #driver: Driver;
  readonly #outlets: { readonly place: string; readonly value: unknown }[] = [];
  #failure: unknown;

  constructor(net: Net, clock: SimulatedClock = new SimulatedClock()) {
    this.clock = clock;
    const compiled = compile(net);
    this.#driver = new Driver({
      clock,
      executor: (onAbort) => {
        const executor = new Executor(compiled, emptyMarking(), { toFiringId: String, onAbort });
        executor.begin(clock.now());
        return executor;
      },
      commit: async ({ records }) => {
        this.records.push(...records);
        return 'committed';
      },
      onCommitted: ({ outlets }) => void this.#outlets.push(...outlets),
      onProgress: () => {},
      onRefused: () => {},
      onFailed: (error) => (this.#failure = error),
      reload: async () => Promise.reject(new Error('nobody else writes here')),
    });
  }

  get marking(): Marking {
    return this.#driver.executor.marking;
  }

  /** Puts a token in an environment place, and lets happen what happens at once. */
  async put<T>(place: Place<T>, value: T): Promise<void> {
    this.#driver.inject({ place: place.name, value });
    await this.settle();
  }

  /** Puts several tokens in one moment: one settled step. */
  async putAll(tokens: readonly (readonly [place: string, value: unknown])[]): Promise<void> {
    for (const [place, value] of tokens) this.#driver.inject({ place, value });
    await this.settle();
  }

  /** Moves time on; what falls due on the way happens at its own time. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (
      let next = this.clock.nextAt;
      next !== undefined && next <= end;
      next = this.clock.nextAt
    ) {
      this.clock.advance(next - this.clock.now());
      await this.settle();
    }
    this.clock.advance(end - this.clock.now());
    await this.settle();
  }

  /** Until nothing happens without a clock or somebody. */
  async settle(): Promise<void> {
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
    await this.#driver.whenIdle();
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** What left by an outlet so far. */
  outputs<T>(outlet: Outlet<T>): readonly T[] {
    return (
      this.#outlets
        .filter(({ place }) => place === outlet.name)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outlet's schema checked it
        .map(({ value }) => value as T)
    );
  }

  tokens<T>(place: Place<T>): readonly T[] {
    return valuesIn(this.marking, place);
  }

  list<T>(place: ListPlace<T>): readonly T[] {
    const items: readonly unknown[] = listIn(this.marking, place.name).items;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the list's schema checked each item
    return items as readonly T[];
  }

  /** Effects in flight. */
  get running(): readonly string[] {
    return [...this.marking.firings.values()].map(({ t }) => t);
  }
}

/** Answers after so much of the story's time, unless it is told to stop. */
export async function delayed<T>(
  clock: SimulatedClock,
  ms: number,
  value: T,
  signal?: AbortSignal,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const cancel = clock.at(clock.now() + ms, () => resolve(value));
  signal?.addEventListener('abort', () => {
    cancel();
    reject(new Error('stopped'));
  });
  return promise;
}
