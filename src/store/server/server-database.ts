import type { SessionKey } from '../../core/index.ts';
import type { OwnerId } from '../store.ts';
import type { ChangedSession } from './change-notices.ts';
import type { OwnerRow } from './owner-failure-detector.ts';
import type { ServerTables } from './server-tables.ts';
import type { FullRow, NewSession } from './session-row.ts';

/** The options of `ServerDatabase.write`. */
export interface WriteOptions<T> {
  /** The sessions that the transaction changed, of which other processes are told. Default: none. */
  readonly changed?: (result: T) => readonly ChangedSession[];
  /** Called with the result and the id of a transaction when it is unknown whether it was committed. */
  readonly onInDoubt?: (result: T, id: string) => void;
  /** False: fails at once when another client holds a lock. Default: true. */
  readonly waitsForLocks?: boolean;
}

/** A read transaction on a connection of its own, which sees one moment. */
export interface ReadTransaction<R> {
  readonly queries: R;
  /** Ends the transaction and its connection. */
  readonly end: () => Promise<void>;
}

/** The connections of a store to its server. `R` runs each statement on its own, `W` in a transaction. */
export interface ServerDatabase<R, W extends R> {
  /** The URL with host and database only, without user, password and options. */
  readonly location: string;

  /** Runs each statement on any free connection. A statement must be idempotent, because it may be repeated. */
  readonly queries: R;

  /** The same for quick reads by key, of which several may share a connection. */
  readonly readsByKey: R;

  /**
   * Runs `body` in a transaction and resolves with its result when the transaction is durable. Rolls back when `body`
   * throws. `body` may run several times: it is repeated after a serialization failure, or when the connection broke
   * before the commit. When the connection breaks during the commit, the server is asked whether it was committed.
   * @throws StoreUnavailableError
   */
  write<T>(body: (queries: W) => Promise<T>, options?: WriteOptions<T>): Promise<T>;

  /**
   * Opens a read transaction. A statement that fails is not repeated.
   * @throws StoreUnavailableError
   */
  beginRead(): Promise<ReadTransaction<R>>;

  /** Inserts a session in a transaction of its own. Undefined when it exists already. */
  insertSession(
    tables: ServerTables<R, W>,
    key: SessionKey,
    init: NewSession,
  ): Promise<FullRow | undefined>;

  /**
   * Asks the server whether a transaction was committed.
   * @throws StoreUnavailableError when the answer stays unknown
   */
  isCommitted(id: string): Promise<boolean>;

  /** Accepts no more calls. Resolves when the pending ones are done. */
  close(): Promise<void>;
}

/** The owners that joined through a store object, and what it knows of those of other processes. */
export interface OwnerRegistry<R> {
  /** The owners that joined through this store object and have not left. */
  readonly localOwners: readonly OwnerId[];
  /** The owners that were dead at the last observation. An owner that is dead stays so under its lock number. */
  readonly dead: readonly OwnerRow[];
  hasJoined(owner: OwnerId): boolean;
  /**
   * Checks that other processes see this owner as alive, if it joined here. Otherwise they could take its sessions, and
   * its effects could run twice.
   * @throws StoreUnavailableError while the lock connection is down
   */
  assertVisible(owner: OwnerId): void;
  /** @throws InvalidInputError when another process has joined with this id */
  join(owner: OwnerId): Promise<void>;
  leave(owner: OwnerId): Promise<void>;
  /** Starts to receive notices of other processes. */
  listen(): Promise<void>;
  /** Returns the live owners: those that joined here, and those that are not known to be dead. */
  findAlive(queries: R): Promise<ReadonlySet<OwnerId>>;
  /** The number of owners that joined elsewhere, and whose process has its connection now. */
  countConnectedElsewhere(queries: R): Promise<number>;
  /** Records which owners a statement has seen in the table, and which of them have their lock. */
  observe(rows: readonly OwnerRow[]): void;
  /** Releases every lock. */
  close(): Promise<void>;
}
