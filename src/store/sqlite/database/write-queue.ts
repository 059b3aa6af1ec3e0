import { InvalidInputError, type SessionKey } from '../../../core/index.ts';
import type { Failpoints } from '../../failpoints.ts';
import {
  AlreadyAnsweredError,
  SessionNotFoundError,
  StoreClosedError,
  StoreUnavailableError,
} from '../../store-errors.ts';
import type { Connection } from './connection.ts';
import type { WalLossDetector } from './wal-loss-detector.ts';
import { busyBackoffMs, type BusyPolicy } from './retry-busy.ts';
import { isBusy } from './sqlite-errors.ts';

/** A write calls it with each session that it changed. Listeners get these sessions after the commit. */
export type MarkChanged = (key: SessionKey) => void;

interface PendingWrite {
  /** Writes in the open transaction. The returned function is called when the transaction is durable. */
  readonly write: (changed: MarkChanged) => () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Puts the writes of one turn of the event loop into one transaction, so that they share its fsync. A refused write
 * does not affect the others. If a write fails, each write is tried alone.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #policy: BusyPolicy;
  readonly #publish: (changed: readonly SessionKey[]) => void;
  readonly #failpoints: Failpoints;
  readonly #walLossDetector: WalLossDetector | undefined;
  #pending: PendingWrite[] = [];
  #scheduled = false;
  #retrying = false;
  #closed = false;

  constructor(
    connection: Connection,
    policy: BusyPolicy,
    publish: (changed: readonly SessionKey[]) => void,
    failpoints: Failpoints,
    walLossDetector?: WalLossDetector,
  ) {
    this.#connection = connection;
    this.#policy = policy;
    this.#publish = publish;
    this.#failpoints = failpoints;
    this.#walLossDetector = walLossDetector;
  }

  /**
   * Runs `body` in the next transaction and resolves with its result when the transaction is durable. `body` may run
   * several times. It must throw a refusal (`SessionNotFoundError`, `AlreadyAnsweredError`, `InvalidInputError`) before
   * its first write; any other error rolls the transaction back.
   */
  add<T>(body: (changed: MarkChanged) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreClosedError());
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ write: createWrite(body, resolve, reject), fail: reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.flush();
      });
    });
  }

  /** Writes the pending writes now, unless the queue is waiting for another writer. */
  flush(): void {
    if (this.#retrying) return;
    const batch = this.#pending;
    this.#pending = [];
    this.#tryBatch(batch, 1, 0);
  }

  /** Accepts no more writes. Resolves when the pending ones have succeeded or failed. */
  async close(): Promise<void> {
    const last = this.add(() => undefined);
    this.#closed = true;
    this.flush();
    await last.catch(() => undefined);
  }

  #tryBatch(batch: readonly PendingWrite[], attempt: number, waitedMs: number): void {
    if (batch.length === 0) return;
    try {
      this.#write(batch);
    } catch (error) {
      if (isBusy(error)) {
        this.#wait(batch, attempt, waitedMs, error);
      } else if (batch.length === 1) {
        batch[0]?.fail(this.#connection.toStoreError(error));
      } else {
        this.#tryEach(batch, attempt, waitedMs);
      }
    }
  }

  #tryEach(batch: readonly PendingWrite[], attempt: number, waitedMs: number): void {
    for (const [index, pending] of batch.entries()) {
      this.#tryBatch([pending], attempt, waitedMs);
      if (!this.#retrying) continue;
      // Another writer has the lock now, so the rest waits behind this write.
      this.#pending.splice(1, 0, ...batch.slice(index + 1));
      return;
    }
  }

  #write(batch: readonly PendingWrite[]): void {
    const settle: (() => void)[] = [];
    const changed: SessionKey[] = [];
    let count: number | undefined;
    this.#connection.write(() => {
      for (const { write } of batch) settle.push(write((key) => changed.push(key)));
      count = this.#walLossDetector?.nextCount();
      this.#failpoints.beforeCommit?.();
    });
    this.#walLossDetector?.recordCommitted(count);
    try {
      this.#failpoints.afterCommit?.();
    } catch (error) {
      for (const { fail } of batch) fail(error);
      return;
    }
    this.#publish(changed);
    for (const done of settle) done();
  }

  #wait(batch: readonly PendingWrite[], attempt: number, waitedMs: number, error: unknown): void {
    if (waitedMs >= this.#policy.busyMs) {
      const unavailable = new StoreUnavailableError('busy', this.#connection.file, {
        cause: error,
      });
      for (const { fail } of batch) fail(unavailable);
      return;
    }
    // Before the writes that arrived meanwhile, to keep their order.
    this.#pending = [...batch, ...this.#pending];
    if (this.#retrying) return;
    this.#retrying = true;
    void this.#retry(attempt, waitedMs);
  }

  async #retry(attempt: number, waitedMs: number): Promise<void> {
    const pause = busyBackoffMs(attempt);
    await this.#policy.sleep(pause);
    this.#retrying = false;
    const all = this.#pending;
    this.#pending = [];
    this.#tryBatch(all, attempt + 1, waitedMs + pause);
  }
}

function createWrite<T>(
  body: (changed: MarkChanged) => T,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): PendingWrite['write'] {
  return (changed) => {
    try {
      const result = body(changed);
      return () => resolve(result);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Reject only after the commit, because the refusal may depend on another write of the transaction.
      return () => reject(error);
    }
  };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof SessionNotFoundError ||
    error instanceof AlreadyAnsweredError ||
    error instanceof InvalidInputError
  );
}
