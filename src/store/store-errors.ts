import {
  PetrichorError,
  type PetrichorErrorOptions,
  formatSessionKey,
  type SessionKey,
} from '../core/index.ts';
import type { InputSeq } from './store.ts';

/**
 * Why a store is unavailable: another writer holds it, a statement was canceled, the disk is full, I/O failed, or the
 * store is read-only.
 */
export type UnavailableReason = 'busy' | 'canceled' | 'full' | 'io' | 'readonly';

/**
 * A store is unavailable for now: another writer holds it, a statement was canceled, the disk is full, I/O failed, or
 * the store is read-only. `reason` names which. Nothing was changed; the same call may succeed later.
 * @remedy Remove the reason (free the disk, check permissions and the server), then repeat the call.
 */
export class StoreUnavailableError extends PetrichorError {
  override readonly code = 'store_unavailable' as const;
  readonly retryable = true as const;
  readonly reason: UnavailableReason;
  /** The path of the file, or the address of the server, as the store was opened. */
  readonly location: string;

  constructor(reason: UnavailableReason, location: string, options?: PetrichorErrorOptions) {
    super(
      `The store ${location} ${(/^(?:postgres|mysql):/.test(location) ? SERVER_UNAVAILABLE : UNAVAILABLE)[reason]}`,
      options,
    );
    this.reason = reason;
    this.location = location;
  }
}

const UNAVAILABLE: Readonly<Record<UnavailableReason, string>> = {
  busy: 'is locked by another writer. Try again, or find the process that holds the lock.',
  canceled: 'was interrupted. Try again.',
  full: 'has no space left. Free disk space and try again.',
  io: 'cannot be reached. Check that its folder exists and is readable and writable, and that the disk works.',
  readonly: 'is read-only. Give this process permission to write the file and its folder.',
};

const SERVER_UNAVAILABLE: Readonly<Record<UnavailableReason, string>> = {
  busy: 'is locked by other writers, or has no free connection. Try again, or find the client that holds the lock.',
  canceled:
    'canceled a statement: an operator canceled it, or it exceeded statement_timeout. Try again, or raise statement_timeout for this user.',
  full: 'has no space left. Free disk space on the server and try again.',
  io: 'cannot be reached. Check that the server runs, and that address, user, password and database are right.',
  readonly:
    'is read-only. Give this user permission to write, or use the URL of the primary server.',
};

/**
 * The database failed a statement, and a retry cannot help. Nothing was changed. The cause has the details.
 * @remedy Look up `databaseCode` in the documentation of the database, and read its log.
 */
export class StoreFailedError extends PetrichorError {
  override readonly code = 'store_failed' as const;
  readonly retryable = false as const;
  /** The path of the file, or the address of the server, as the store was opened. */
  readonly location: string;
  /** The error code of the database: an SQLSTATE, an error number of MySQL, or a SQLite result code. */
  readonly databaseCode: string;

  constructor(location: string, databaseCode: string, options?: PetrichorErrorOptions) {
    super(
      `The store ${location} failed a statement with database error ${databaseCode}. Nothing was changed, and a retry does not help. Look up the error code, and read the log of the database.`,
      options,
    );
    this.location = location;
    this.databaseCode = databaseCode;
  }
}

/**
 * Other processes use the store, and the operation would stop them. Nothing was changed.
 * @remedy Stop the servers and programs that use the store, or leave out the option `full`.
 */
export class StoreInUseError extends PetrichorError {
  override readonly code = 'store_in_use' as const;
  /** The path of the file, or the address of the server, as the store was opened. */
  readonly location: string;

  constructor(location: string, owners: number) {
    super(
      `The store ${location} is in use by ${owners} other ${owners === 1 ? 'runtime' : 'runtimes'}, which could not write for as long as this takes. Stop them, or leave out the option full.`,
    );
    this.location = location;
  }
}

/**
 * A database is damaged, lacks its last writes, or is not a database. It was not changed.
 * @remedy Restore it from a backup, or move it away to start with an empty store.
 */
export class StoreCorruptError extends PetrichorError {
  override readonly code = 'store_corrupt' as const;
  readonly file: string;

  constructor(file: string, problem: string, options?: PetrichorErrorOptions) {
    super(
      `${file} ${problem}. Nothing was written to it. Restore it from a backup, or move it away to start with an empty store.`,
      options,
    );
    this.file = file;
  }
}

/**
 * The database, or its schema, belongs to another program. It was not changed.
 * @remedy Use another file or another schema.
 */
export class ForeignDatabaseError extends PetrichorError {
  override readonly code = 'foreign_database' as const;
  readonly file: string;

  constructor(file: string, kind: 'file' | 'schema' = 'file') {
    super(
      `${file} is a database of another program. Nothing was written to it. Use another ${kind}.`,
    );
    this.file = file;
  }
}

/**
 * The store was written by a newer version of Petrichor. It was not changed.
 * @remedy Update Petrichor.
 */
export class StoreVersionError extends PetrichorError {
  override readonly code = 'store_version' as const;
  readonly file: string;
  readonly found: number;
  readonly known: number;

  constructor(file: string, found: number, known: number) {
    super(
      `${file} has schema version ${found}, but this version of Petrichor supports up to ${known}. Update Petrichor to open it.`,
    );
    this.file = file;
    this.found = found;
    this.known = known;
  }
}

/**
 * A store was used after `close`.
 * @remedy Open the store again, or close it later.
 */
export class StoreClosedError extends PetrichorError {
  override readonly code = 'store_closed' as const;

  constructor() {
    super('The store is closed. Open it again to use it.');
  }
}

/**
 * A session does not exist, or was deleted. Nothing was changed.
 * @remedy Create the session, or check its app, user and id.
 */
export class SessionNotFoundError extends PetrichorError {
  override readonly code = 'session_not_found' as const;
  readonly key: SessionKey;
  /** True when the session existed and was deleted. */
  readonly deleted: boolean;

  constructor(key: SessionKey, deleted: boolean) {
    super(
      deleted
        ? `Session "${formatSessionKey(key)}" was deleted. Create it again to use its id.`
        : `Session "${formatSessionKey(key)}" does not exist. Create it, or check its app, user and id.`,
    );
    this.key = key;
    this.deleted = deleted;
  }
}

/**
 * A session that is imported exists already. Nothing was written.
 * @remedy Delete the session that exists, or import into another store.
 */
export class SessionExistsError extends PetrichorError {
  override readonly code = 'session_exists' as const;
  readonly key: SessionKey;

  constructor(key: SessionKey) {
    super(
      `Session "${formatSessionKey(key)}" exists already, and nothing was written. Delete it, or import into another store.`,
    );
    this.key = key;
  }
}

/**
 * A backup is restored only into an empty store, and this one holds something. Nothing was written.
 * @remedy Name a new file, or an empty database or schema.
 */
export class StoreNotEmptyError extends PetrichorError {
  override readonly code = 'store_not_empty' as const;
  /** The path of the file, or the address of the server, as the store was opened. */
  readonly location: string;

  constructor(location: string) {
    super(
      `The store ${location} is not empty, and nothing was written. Restore into a new file, or into an empty database or schema.`,
    );
    this.location = location;
  }
}

/**
 * A call already has an answer. The earlier answer stays valid; nothing was changed.
 * @remedy Do not repeat the answer. Read the log to see the earlier one.
 */
export class AlreadyAnsweredError extends PetrichorError {
  override readonly code = 'already_answered' as const;
  readonly callId: string;
  /** The number of the earlier answer in the session's inbox. */
  readonly inputSeq: InputSeq;

  constructor(callId: string, inputSeq: InputSeq) {
    super(
      `Call "${callId}" was already answered. The earlier answer is valid: read the log to see it.`,
    );
    this.callId = callId;
    this.inputSeq = inputSeq;
  }
}

/**
 * A step does not continue its session's journal, which is a defect in the caller of the store. Nothing was written.
 * @remedy Correct the program that writes the step. `field` is the path of the invalid value.
 */
export class InvalidStepError extends PetrichorError {
  override readonly code = 'invalid_step' as const;
  readonly key: SessionKey;
  /** The path of the invalid field, for example `events[0].seq`. */
  readonly field: string;

  constructor(key: SessionKey, field: string, problem: string) {
    super(`Step of session "${formatSessionKey(key)}": ${field} ${problem}`);
    this.key = key;
    this.field = field;
  }
}

/**
 * A store URL has an unknown scheme or an unsupported form.
 * @remedy Use one of the forms in the message, for example `sqlite:file.db`.
 */
export class UnsupportedStoreUrlError extends PetrichorError {
  override readonly code = 'unsupported_store_url' as const;

  constructor(problem: string) {
    super(
      `${problem} Supported forms: "memory:", "sqlite:file.db", "sqlite:///file.db", "sqlite:////absolute/file.db", "postgres://user:password@host/database", "mysql://user:password@host/database", or a plain path.`,
    );
  }
}
