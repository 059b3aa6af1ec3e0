import { InvalidInputError } from '../../core/index.ts';
import { StoreUnavailableError } from '../store-errors.ts';
import type { OwnerId } from '../store.ts';
import { OwnerFailureDetector } from './owner-failure-detector.ts';
import type { OwnerFailureDetectorOptions, OwnerRow } from './owner-failure-detector.ts';
import type { OwnerRegistry } from './server-database.ts';
import type { ServerStoreOptions } from './server-store-options.ts';
import { unrefDelay } from './unref-delay.ts';

const MIN_BACKOFF_MS = 50;
/** Shorter than any reasonable `absenceMs`, so that a live owner is back before it counts as dead. */
const MAX_BACKOFF_MS = 1000;

/** The lock that a connection takes for an owner. */
export interface OwnerLockRequest {
  readonly owner: OwnerId;
  /**
   * Who may hold the owner's lock already. With `itself` such a connection is ignored: it is the broken one of this
   * process, which the server may still consider open.
   */
  readonly mayBeHeldBy: 'itself' | 'others';
  /** Finds the owners whose rows are to be removed: those that are dead, and did not join here. */
  readonly findDead: (rows: readonly OwnerRow[]) => readonly OwnerRow[];
}

/** How a database server holds the locks of owners. `C` is a connection outside the pool, `R` runs statements in the pool. */
export interface OwnerLockDriver<C, R> {
  /** Opens the connection, and destroys it when it cannot be prepared. */
  connect(): Promise<C>;
  onClosed(connection: C, listener: () => void): void;
  /** Makes the connection keep the process alive while a statement runs, and not while it is idle. */
  keepProcessAlive(connection: C, isBusy: boolean): void;
  /** Runs an empty statement. Rejects when the server does not answer in this time. */
  ping(connection: C, timeoutMs: number): Promise<unknown>;
  end(connection: C): Promise<void>;
  /** Destroys the connection without the protocol's goodbye, because the server may be gone. */
  destroy(connection: C): void;
  /**
   * Writes the row of the owner, takes a new lock for it, and removes dead owners. A new number each time shows observers
   * of an absence that the owner was back. Returns the number of the lock; undefined when another connection holds the
   * owner's lock.
   */
  lock(connection: C, request: OwnerLockRequest): Promise<number | undefined>;
  /** Removes the row of an owner, and releases its lock. @param lock undefined: the connection does not hold it */
  release(connection: C, owner: OwnerId, lock: number | undefined): Promise<void>;
  /** Reads all owners. */
  readOwners(queries: R): Promise<readonly OwnerRow[]>;
  /** Starts to receive notices of other processes, if the connection does not receive them. */
  readonly startNotices?: () => Promise<void>;
  readonly stopNotices?: () => void;
  toStoreError(error: unknown): unknown;
}

export interface ServerOwnerRegistryOptions extends OwnerFailureDetectorOptions {
  /** The URL of the database, in errors. */
  readonly location: string;
  /** How often to test the connection, and how long to wait for the answer, in milliseconds. */
  readonly checkMs: number;
  /** Called after a reconnect, because notices of other processes may have been missed. */
  readonly onReconnected: () => void;
}

/** The times of a registry, with the defaults of `ServerStoreOptions`. */
export function toOwnerTimes(
  options: ServerStoreOptions,
): OwnerFailureDetectorOptions & Pick<ServerOwnerRegistryOptions, 'checkMs'> {
  return {
    now: options.now ?? (() => performance.now()),
    absenceMs: options.absenceMs ?? 5000,
    restartAbsenceMs: options.restartAbsenceMs ?? 30_000,
    checkMs: options.checkMs ?? 5000,
  };
}

/**
 * Keeps one dedicated connection for this process. It holds a lock of the server for each owner that joined here. A
 * stopped or slow process keeps its connection. When a process is killed, the server releases its locks. A broken
 * connection is opened again, with its locks. So an owner without a lock for some time is dead: see
 * `OwnerFailureDetector`.
 */
export class ServerOwnerRegistry<C, R> implements OwnerRegistry<R> {
  readonly #driver: OwnerLockDriver<C, R>;
  readonly #options: ServerOwnerRegistryOptions;
  readonly #failureDetector: OwnerFailureDetector;
  readonly #owners = new Set<OwnerId>();
  #dead: readonly OwnerRow[] = [];
  /** The owners whose locks the current connection holds, with the numbers of the locks. */
  readonly #locked = new Map<OwnerId, number>();
  #connection: Promise<C> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #reconnecting = false;
  #closed = false;
  #check: ReturnType<typeof setInterval> | undefined;

  constructor(driver: OwnerLockDriver<C, R>, options: ServerOwnerRegistryOptions) {
    this.#driver = driver;
    this.#options = options;
    this.#failureDetector = new OwnerFailureDetector(options);
  }

  get localOwners(): readonly OwnerId[] {
    return [...this.#owners];
  }

  get dead(): readonly OwnerRow[] {
    return this.#dead;
  }

  hasJoined(owner: OwnerId): boolean {
    return this.#owners.has(owner);
  }

  assertVisible(owner: OwnerId): void {
    if (!this.#owners.has(owner) || this.#locked.has(owner)) return;
    throw new StoreUnavailableError('io', this.#options.location, {
      cause: new Error(
        'The connection that holds the owner lock of this process broke. Reconnecting.',
      ),
    });
  }

  async join(owner: OwnerId): Promise<void> {
    await this.#serialize(async (connection) => {
      if (this.#owners.has(owner)) return;
      if (!(await this.#lock(connection, owner, 'others')))
        throw new InvalidInputError('owner', 'has already joined: each runtime needs a unique id.');
      this.#owners.add(owner);
    });
  }

  async leave(owner: OwnerId): Promise<void> {
    if (!this.#owners.delete(owner)) return;
    const lock = this.#locked.get(owner);
    this.#locked.delete(owner);
    await this.#serialize(async (connection) => this.#driver.release(connection, owner, lock));
  }

  async listen(): Promise<void> {
    await this.#serialize(async () => undefined);
    await this.#driver.startNotices?.();
    // A connection that is lost without an error is detected because the test gets no answer.
    this.#check ??= setInterval(() => void this.#checkConnection(), this.#options.checkMs).unref();
  }

  async findAlive(queries: R): Promise<ReadonlySet<OwnerId>> {
    const rows = await this.#driver.readOwners(queries);
    this.observe(rows);
    const dead = new Set(this.#dead.map(({ name }) => name));
    const others = rows.flatMap(({ name }) => (dead.has(name) ? [] : [name]));
    return new Set([...this.#owners, ...others]);
  }

  async countConnectedElsewhere(queries: R): Promise<number> {
    const rows = await this.#driver.readOwners(queries);
    return rows.filter(({ name, held }) => held && !this.#owners.has(name)).length;
  }

  observe(rows: readonly OwnerRow[]): void {
    this.#dead = this.#failureDetector.findDead(rows);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#check);
    this.#driver.stopNotices?.();
    await this.#queue.catch(() => undefined);
    const connection = await this.#connection?.catch(() => undefined);
    if (connection === undefined) return;
    // Otherwise a process that only waits for this end would exit before it, with an error.
    this.#driver.keepProcessAlive(connection, true);
    await this.#driver.end(connection).catch(() => this.#driver.destroy(connection));
  }

  async #serialize<T>(action: (connection: C) => Promise<T>): Promise<T> {
    const inTurn = async (): Promise<T> => {
      const connection = await this.#connected();
      this.#driver.keepProcessAlive(connection, true);
      try {
        return await action(connection);
      } catch (error) {
        throw this.#driver.toStoreError(error);
      } finally {
        this.#driver.keepProcessAlive(connection, false);
      }
    };
    const result = this.#queue.then(inTurn, inTurn);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #connected(): Promise<C> {
    this.#connection ??= this.#connect().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #connect(): Promise<C> {
    const connection = await this.#driver.connect();
    this.#driver.onClosed(connection, () => this.#onConnectionLost());
    return connection;
  }

  /** Destroys the connection when it does not answer. */
  async #checkConnection(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    if (connection === undefined || this.#closed) return;
    try {
      await this.#driver.ping(connection, this.#options.checkMs);
    } catch {
      this.#driver.destroy(connection);
    }
  }

  #onConnectionLost(): void {
    this.#connection = undefined;
    this.#locked.clear();
    if (!this.#closed && !this.#reconnecting) void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.#reconnecting = true;
    let pauseMs = MIN_BACKOFF_MS;
    do {
      await unrefDelay(pauseMs);
      pauseMs = Math.min(MAX_BACKOFF_MS, pauseMs * 2);
      await this.#serialize(async (connection) => this.#lockAll(connection)).catch(() => undefined);
      // The connection may have been lost again meanwhile.
    } while (
      !this.#closed &&
      (this.#connection === undefined || this.#locked.size < this.#owners.size)
    );
    this.#reconnecting = false;
    this.#failureDetector.markReconnected();
    this.#options.onReconnected();
  }

  async #lockAll(connection: C): Promise<void> {
    for (const owner of this.#owners)
      if (!this.#locked.has(owner)) await this.#lock(connection, owner, 'itself');
  }

  async #lock(
    connection: C,
    owner: OwnerId,
    mayBeHeldBy: OwnerLockRequest['mayBeHeldBy'],
  ): Promise<boolean> {
    const lock = await this.#driver.lock(connection, {
      owner,
      mayBeHeldBy,
      findDead: (rows) =>
        this.#failureDetector.findDead(rows).filter(({ name }) => !this.#owners.has(name)),
    });
    if (lock === undefined) return false;
    this.#locked.set(owner, lock);
    return true;
  }
}
