import {
  applyRecord,
  compile,
  Driver,
  emptyMarking,
  Executor,
  listIn,
  SimulatedClock,
  tokensIn,
} from '../../src/net/index.ts';
import type { CompiledNet, Marking, Net, Step, StepOutcome } from '../../src/net/index.ts';

/** Drives a net over a journal in memory with a simulated clock. Commits can be held, refused, or fail. */
export class DriverHarness {
  readonly net: CompiledNet;
  readonly clock: SimulatedClock;
  readonly driver: Driver;
  readonly steps: Step[];
  /** The commits, published steps and refusals, in order. */
  readonly log: string[] = [];
  readonly shown: unknown[] = [];
  /** The numbers of the commits that meet a conflict. Numbers start at 1 and count every attempt to commit. */
  readonly conflicts: Set<number> = new Set();
  onReload: (executor: Executor) => void = () => {};
  refuse: boolean = false;
  failing: Error | undefined;
  reloads: number = 0;
  #tries = 0;
  #held: Promise<void> | undefined;

  constructor(
    net: Net | CompiledNet,
    steps: readonly Step[] = [],
    clock: SimulatedClock = new SimulatedClock(),
  ) {
    this.net = 'hash' in net ? net : compile(net);
    this.clock = clock;
    this.steps = [...steps];
    this.driver = new Driver({
      clock: this.clock,
      executor: (onAbort) => this.#executor(onAbort),
      reload: async (onAbort) => {
        this.reloads++;
        const executor = this.#executor(onAbort);
        this.onReload(executor);
        return executor;
      },
      commit: async (step) => this.#commit(step),
      onCommitted: () => this.log.push(`committed ${this.steps.length}`),
      onProgress: ({ partial }) => {
        this.shown.push(partial);
        this.log.push(`shown ${String(partial)}`);
      },
      onRefused: () => this.log.push('refused'),
      onFailed: (error) => this.log.push(`failed: ${error instanceof Error ? error.message : ''}`),
    });
  }

  get marking(): Marking {
    return this.driver.executor.marking;
  }

  inject(place: string | { readonly name: string }, value: unknown): void {
    this.driver.inject({ place: typeof place === 'string' ? place : place.name, value });
  }

  /** Holds commits until the test releases them. */
  hold(): { readonly let: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return {
      let: () => {
        this.#held = undefined;
        resolve();
      },
    };
  }

  /** Waits until no pending callback is left. */
  async flush(): Promise<void> {
    for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits until no step is being settled or committed. */
  async whenIdle(): Promise<void> {
    await this.flush();
    await this.driver.whenIdle();
    await this.flush();
  }

  values(place: { readonly name: string }): readonly unknown[] {
    return tokensIn(this.marking, place.name).map((token) => token.value);
  }

  list(place: { readonly name: string }): readonly unknown[] {
    return listIn(this.marking, place.name).items;
  }

  /** Returns the next owner of the same journal. */
  successor(): DriverHarness {
    return new DriverHarness(this.net, this.steps, this.clock);
  }

  #executor(onAbort: (firing: number) => void): Executor {
    const marking = emptyMarking();
    for (const { records } of this.steps) {
      for (const record of records) applyRecord(marking, record);
    }
    const executor = new Executor(this.net, marking, {
      toFiringId: (firing) => `f${firing}`,
      onAbort,
    });
    if (marking.seq === 0) executor.begin(this.clock.now());
    return executor;
  }

  async #commit(step: Step): Promise<StepOutcome> {
    const number = ++this.#tries;
    await this.#held;
    if (this.failing !== undefined) throw this.failing;
    if (this.conflicts.has(number)) return 'conflict';
    if (this.refuse) return 'refused';
    this.steps.push(step);
    const story = step.records.map((record) =>
      't' in record ? `${record.kind} ${record.t}` : record.kind,
    );
    // Skip the record of the initial tokens.
    const shown = this.steps.length === 1 ? story.slice(1) : story;
    this.log.push(`commit ${this.steps.length}: ${shown.join(', ')}`);
    return 'committed';
  }
}
