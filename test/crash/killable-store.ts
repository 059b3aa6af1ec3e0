import type {
  CommitResult,
  CommittedStep,
  InboxRow,
  InjectReceipt,
  SessionRow,
  SharedState,
  Store,
} from '../../src/store/index.ts';
import type { Json, LogEvent } from '../../src/core/index.ts';
import { PetrichorError } from '../../src/core/index.ts';

/** Where a life ends: before or after its `nth` write is durable, or in its `nth` tool, before or after that did its work. */
export interface CrashPoint {
  readonly point: 'before-write' | 'after-write' | 'tool-began' | 'tool-did';
  readonly nth: number;
}

/** The life is over and its test is too: whatever still waits may go. */
export class DiscardedProcessError extends PetrichorError {
  override readonly code = 'buried' as const;
}

/** One process's time, as far as its store can tell: when it is over, nothing it does has an effect and nothing answers it. */
export class SimulatedProcess {
  /** Resolves when it is over. */
  readonly over: Promise<void>;
  #crashPoint: CrashPoint | undefined;
  readonly #passed = new Map<CrashPoint['point'], number>();
  readonly #end: () => void;
  readonly #waiting: ((error: DiscardedProcessError) => void)[] = [];
  #isOver = false;
  #isDiscarded = false;

  constructor(cut?: CrashPoint) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#crashPoint = cut;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the life if this is the place; then it never resolves. */
  async pass(point: CrashPoint['point']): Promise<void> {
    if (this.reaches(point)) {
      this.#isOver = true;
      this.#end();
    }
    if (this.#isOver) await this.never();
  }

  /** Counts a place passed: true when life ends here. */
  reaches(point: CrashPoint['point']): boolean {
    const nth = (this.#passed.get(point) ?? 0) + 1;
    this.#passed.set(point, nth);
    return this.#crashPoint?.point === point && this.#crashPoint.nth === nth;
  }

  /** Says where it ends, counted from now on. */
  crashAt(cut: CrashPoint): void {
    this.#passed.clear();
    this.#crashPoint = cut;
  }

  /** It has no end of its own any more. */
  disarm(): void {
    this.#crashPoint = undefined;
  }

  /** Ends it here. */
  end(): void {
    this.#isOver = true;
    this.#end();
  }

  /** What the dead are told: nothing, until they are buried. */
  async never(): Promise<never> {
    if (this.#isDiscarded) throw new DiscardedProcessError('This life is over.');
    return new Promise<never>((_resolve, reject) => this.#waiting.push(reject));
  }

  /** Lets everything go that still waits, so that the process of the test can end. */
  discard(): void {
    this.#isOver = true;
    this.#isDiscarded = true;
    for (const reject of this.#waiting.splice(0))
      reject(new DiscardedProcessError('This life is over.'));
  }
}

/** A store whose user may die at any of its writes. It adds nothing else. */
export class KillableStore implements Store {
  readonly durability: Store['durability'];
  readonly #store: Store;
  readonly #process: SimulatedProcess;

  constructor(store: Store, life: SimulatedProcess) {
    this.durability = store.durability;
    this.#store = store;
    this.#process = life;
  }

  async join(...args: Parameters<Store['join']>): Promise<void> {
    return this.#write(async () => this.#store.join(...args));
  }

  async leave(...args: Parameters<Store['leave']>): Promise<void> {
    return this.#write(async () => this.#store.leave(...args));
  }

  async create(...args: Parameters<Store['create']>): ReturnType<Store['create']> {
    return this.#write(async () => this.#store.create(...args));
  }

  async claim(...args: Parameters<Store['claim']>): ReturnType<Store['claim']> {
    return this.#write(async () => this.#store.claim(...args));
  }

  async evict(...args: Parameters<Store['evict']>): ReturnType<Store['evict']> {
    return this.#write(async () => this.#store.evict(...args));
  }

  async commit(...args: Parameters<Store['commit']>): Promise<readonly CommitResult[]> {
    return this.#write(async () => this.#store.commit(...args));
  }

  async inject(...args: Parameters<Store['inject']>): Promise<InjectReceipt> {
    return this.#write(async () => this.#store.inject(...args));
  }

  async submit(...args: Parameters<Store['submit']>): ReturnType<Store['submit']> {
    return this.#write(async () => this.#store.submit(...args));
  }

  async recordHydration(
    ...args: Parameters<Store['recordHydration']>
  ): ReturnType<Store['recordHydration']> {
    return this.#write(async () => this.#store.recordHydration(...args));
  }

  async delete(...args: Parameters<Store['delete']>): Promise<boolean> {
    return this.#write(async () => this.#store.delete(...args));
  }

  async find(...args: Parameters<Store['find']>): Promise<SessionRow | undefined> {
    return this.#read(async () => this.#store.find(...args));
  }

  async list(...args: Parameters<Store['list']>): Promise<readonly SessionRow[]> {
    return this.#read(async () => this.#store.list(...args));
  }

  async inbox(...args: Parameters<Store['inbox']>): Promise<readonly InboxRow[]> {
    return this.#read(async () => this.#store.inbox(...args));
  }

  async snapshot(
    ...args: Parameters<Store['snapshot']>
  ): Promise<{ readonly step: number; readonly marking: Json } | undefined> {
    return this.#read(async () => this.#store.snapshot(...args));
  }

  async findRunnable(...args: Parameters<Store['findRunnable']>): Promise<readonly SessionRow[]> {
    return this.#read(async () => this.#store.findRunnable(...args));
  }

  async nextDueAt(...args: Parameters<Store['nextDueAt']>): Promise<number | undefined> {
    return this.#read(async () => this.#store.nextDueAt(...args));
  }

  async shared(...args: Parameters<Store['shared']>): Promise<SharedState> {
    return this.#read(async () => this.#store.shared(...args));
  }

  async document(...args: Parameters<Store['document']>): ReturnType<Store['document']> {
    return this.#read(async () => this.#store.document(...args));
  }

  async documents(...args: Parameters<Store['documents']>): ReturnType<Store['documents']> {
    return this.#read(async () => this.#store.documents(...args));
  }

  async writeDocuments(
    ...args: Parameters<Store['writeDocuments']>
  ): ReturnType<Store['writeDocuments']> {
    return this.#write(async () => this.#store.writeDocuments(...args));
  }

  steps(...args: Parameters<Store['steps']>): AsyncIterable<CommittedStep> {
    return this.#each(this.#store.steps(...args));
  }

  listSteps(...args: Parameters<Store['listSteps']>): AsyncIterable<CommittedStep> {
    return this.#each(this.#store.listSteps(...args));
  }

  read(...args: Parameters<Store['read']>): AsyncIterable<LogEvent> {
    return this.#each(this.#store.read(...args));
  }

  subscribe(listener: Parameters<Store['subscribe']>[0]): () => void {
    return this.#store.subscribe((changed) => {
      if (!this.#process.isOver) listener(changed);
    });
  }

  async close(): Promise<void> {
    return this.#store.close();
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    await this.#process.pass('before-write');
    // It is durable, and nobody hears of it.
    const last = this.#process.reaches('after-write');
    if (!last) return this.#read(write);
    await write();
    this.#process.end();
    return this.#process.never();
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#process.isOver) return this.#process.never();
    const value = await read();
    return this.#process.isOver ? this.#process.never() : value;
  }

  async *#each<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    for await (const item of items) {
      if (this.#process.isOver) await this.#process.never();
      yield item;
    }
  }
}
