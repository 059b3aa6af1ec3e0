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

/**
 * Where a simulated process crashes: before or after its `nth` write is durable, or before or after its `nth` tool
 * call.
 */
export interface CrashPoint {
  readonly point: 'before-write' | 'after-write' | 'tool-began' | 'tool-did';
  readonly nth: number;
}

/** Rejects the pending calls of a crashed process at the end of the test. */
export class DiscardedProcessError extends PetrichorError {
  override readonly code = 'process_discarded' as const;
}

/** A simulated process. After its crash, its calls to the store have no effect and never resolve. */
export class SimulatedProcess {
  /** Resolves when the process has crashed. */
  readonly over: Promise<void>;
  #crashPoint: CrashPoint | undefined;
  readonly #passed = new Map<CrashPoint['point'], number>();
  readonly #end: () => void;
  readonly #waiting: ((error: DiscardedProcessError) => void)[] = [];
  #isOver = false;
  #isDiscarded = false;

  constructor(crashPoint?: CrashPoint) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#crashPoint = crashPoint;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Crashes at the crash point; then it never resolves. */
  async pass(point: CrashPoint['point']): Promise<void> {
    if (this.reaches(point)) {
      this.#isOver = true;
      this.#end();
    }
    if (this.#isOver) await this.never();
  }

  /** Counts a point. Returns true at the crash point. */
  reaches(point: CrashPoint['point']): boolean {
    const nth = (this.#passed.get(point) ?? 0) + 1;
    this.#passed.set(point, nth);
    return this.#crashPoint?.point === point && this.#crashPoint.nth === nth;
  }

  /** Sets the crash point, counted from now on. */
  crashAt(crashPoint: CrashPoint): void {
    this.#passed.clear();
    this.#crashPoint = crashPoint;
  }

  /** Removes the crash point. */
  disarm(): void {
    this.#crashPoint = undefined;
  }

  /** Crashes now. */
  end(): void {
    this.#isOver = true;
    this.#end();
  }

  /** Never resolves; rejects when the process is discarded. */
  async never(): Promise<never> {
    if (this.#isDiscarded) throw new DiscardedProcessError('The simulated process has crashed.');
    return new Promise<never>((_resolve, reject) => this.#waiting.push(reject));
  }

  /** Rejects all pending calls, so that the test process can end. */
  discard(): void {
    this.#isOver = true;
    this.#isDiscarded = true;
    for (const reject of this.#waiting.splice(0))
      reject(new DiscardedProcessError('The simulated process has crashed.'));
  }
}

/** A store whose process can crash at any of its writes. */
export class KillableStore implements Store {
  readonly durability: Store['durability'];
  readonly #store: Store;
  readonly #process: SimulatedProcess;

  constructor(store: Store, process: SimulatedProcess) {
    this.durability = store.durability;
    this.#store = store;
    this.#process = process;
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

  async vacuum(...args: Parameters<Store['vacuum']>): ReturnType<Store['vacuum']> {
    return this.#write(async () => this.#store.vacuum(...args));
  }

  async delete(...args: Parameters<Store['delete']>): Promise<boolean> {
    return this.#write(async () => this.#store.delete(...args));
  }

  async trim(...args: Parameters<Store['trim']>): Promise<boolean> {
    return this.#write(async () => this.#store.trim(...args));
  }

  async replace(...args: Parameters<Store['replace']>): Promise<boolean> {
    return this.#write(async () => this.#store.replace(...args));
  }

  async find(...args: Parameters<Store['find']>): Promise<SessionRow | undefined> {
    return this.#read(async () => this.#store.find(...args));
  }

  async countBytes(...args: Parameters<Store['countBytes']>): ReturnType<Store['countBytes']> {
    return this.#read(async () => this.#store.countBytes(...args));
  }

  async listUsers(...args: Parameters<Store['listUsers']>): ReturnType<Store['listUsers']> {
    return this.#read(async () => this.#store.listUsers(...args));
  }

  async countSessions(
    ...args: Parameters<Store['countSessions']>
  ): ReturnType<Store['countSessions']> {
    return this.#read(async () => this.#store.countSessions(...args));
  }

  async list(...args: Parameters<Store['list']>): Promise<readonly SessionRow[]> {
    return this.#read(async () => this.#store.list(...args));
  }

  async findInput(...args: Parameters<Store['findInput']>): Promise<number | undefined> {
    return this.#read(async () => this.#store.findInput(...args));
  }

  async inbox(...args: Parameters<Store['inbox']>): Promise<readonly InboxRow[]> {
    return this.#read(async () => this.#store.inbox(...args));
  }

  async snapshot(
    ...args: Parameters<Store['snapshot']>
  ): Promise<{ readonly step: number; readonly marking: Json } | undefined> {
    return this.#read(async () => this.#store.snapshot(...args));
  }

  async findRunnable(
    ...args: Parameters<Store['findRunnable']>
  ): ReturnType<Store['findRunnable']> {
    return this.#read(async () => this.#store.findRunnable(...args));
  }

  async pendingCalls(
    ...args: Parameters<Store['pendingCalls']>
  ): ReturnType<Store['pendingCalls']> {
    return this.#read(async () => this.#store.pendingCalls(...args));
  }

  async changes(...args: Parameters<Store['changes']>): ReturnType<Store['changes']> {
    return this.#read(async () => this.#store.changes(...args));
  }

  async touch(...args: Parameters<Store['touch']>): Promise<void> {
    return this.#write(async () => this.#store.touch(...args));
  }

  async usage(...args: Parameters<Store['usage']>): ReturnType<Store['usage']> {
    return this.#read(async () => this.#store.usage(...args));
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

  exportItems(...args: Parameters<Store['exportItems']>): ReturnType<Store['exportItems']> {
    return this.#each(this.#store.exportItems(...args));
  }

  async importItems(...args: Parameters<Store['importItems']>): ReturnType<Store['importItems']> {
    return this.#write(async () => this.#store.importItems(...args));
  }

  subscribe(listener: Parameters<Store['subscribe']>[0]): () => void {
    return this.#store.subscribe((changed, origin) => {
      if (!this.#process.isOver) listener(changed, origin);
    });
  }

  async close(): Promise<void> {
    return this.#store.close();
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    await this.#process.pass('before-write');
    // The write is durable, but its result is lost.
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
