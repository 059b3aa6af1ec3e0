import { InvalidInputError } from '../../../core/errors/invalid-input-error.ts';
import type { SessionKey } from '../../../core/identity/session-key.ts';
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

/** Called with each session a write changed, for those who listen. */
export type MarkChanged = (key: SessionKey) => void;

interface PendingWrite {
  /** Writes in the open transaction; what it returns is called when that is durable. */
  readonly write: (changed: MarkChanged) => () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Puts the writes of one turn of the event loop into one transaction, so that they share its fsync.
 * Each is judged for itself: one that is refused does not harm the others, and one that cannot be written is tried alone.
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
   * Runs `body` in the next transaction and resolves with its result when that is durable.
   * A refusal (`SessionNotFoundError`, `AlreadyAnsweredError`, `InvalidInputError`) must be thrown before anything is written;
   * any other error undoes the transaction. `body` may run several times.
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

  /** Writes what is pending now, unless another writer is being waited for. */
  flush(): void {
    if (this.#retrying) return;
    const batch = this.#pending;
    this.#pending = [];
    this.#tryBatch(batch, 1, 0);
  }

  /** Takes no more writes, and resolves when the pending ones are done or have failed. */
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
    for (const [index, one] of batch.entries()) {
      this.#tryBatch([one], attempt, waitedMs);
      if (!this.#retrying) continue;
      // Another writer came between: the rest waits too, behind this one.
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
    // Before what came meanwhile: writes keep their order.
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
      // Not before the transaction is durable: the refusal may rest on what another write of it says.
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
