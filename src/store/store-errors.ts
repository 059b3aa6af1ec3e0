import { PetrichorError, type PetrichorErrorOptions } from '../core/errors/petrichor-error.ts';
import { formatSessionKey, type SessionKey } from '../core/identity/session-key.ts';
import type { InputSeq } from './store.ts';

/**
 * Why a store cannot do it now: another writer is at it, a statement was cancelled, there is no room, the medium failed,
 * or it may not be written.
 */
export type UnavailableReason = 'busy' | 'canceled' | 'full' | 'io' | 'readonly';

/** The store cannot do it now. Nothing was changed: the same call may succeed later. */
export class StoreUnavailableError extends PetrichorError {
  override readonly code = 'store_unavailable' as const;
  readonly retryable = true as const;
  readonly reason: UnavailableReason;
  /** What is stored there, as the store was opened: a file's path, or a server's address. */
  readonly location: string;

  constructor(reason: UnavailableReason, location: string, options?: PetrichorErrorOptions) {
    super(
      `The store ${location} ${(location.startsWith('postgres') ? SERVER_UNAVAILABLE : UNAVAILABLE)[reason]}`,
      options,
    );
    this.reason = reason;
    this.location = location;
  }
}

const UNAVAILABLE: Readonly<Record<UnavailableReason, string>> = {
  busy: 'is held by another writer: try again, or find out what keeps it.',
  canceled: 'was interrupted: try again.',
  full: 'has no room left: free some and try again.',
  io: 'cannot be reached: check that its folder exists, that it may be read and written, and that the disk works.',
  readonly: 'may not be written: give this process the right to write the file and its folder.',
};

const SERVER_UNAVAILABLE: Readonly<Record<UnavailableReason, string>> = {
  busy: 'is held by other writers, or has no connection left: try again, or find out what keeps it.',
  canceled:
    'cancelled a statement, because an operator did or it took longer than statement_timeout allows: try again, or raise statement_timeout for this user.',
  full: 'has no room left: free some on the server and try again.',
  io: 'cannot be reached: check that the server runs, and that address, user, password and database are right.',
  readonly:
    'may not be written: give this user the right to, or name the server that takes writes.',
};

/**
 * The database refused something for a reason that trying again does not mend. Nothing was changed: look at the cause, in
 * the log of this program or of the database.
 */
export class StoreFailedError extends PetrichorError {
  override readonly code = 'store_failed' as const;
  readonly retryable = false as const;
  /** What is stored there, as the store was opened: a file's path, or a server's address. */
  readonly location: string;
  /** The database's own code: an SQLSTATE, or a result code of SQLite. */
  readonly databaseCode: string;

  constructor(location: string, databaseCode: string, options?: PetrichorErrorOptions) {
    super(
      `The store ${location} refused a statement with the database error ${databaseCode}. Nothing was changed, and to try again does not help: look the error up, and read its cause in the log of the database.`,
      options,
    );
    this.location = location;
    this.databaseCode = databaseCode;
  }
}

/** The file is not what this store wrote. It was left as it is: restore it from a copy, or move it away. */
export class StoreCorruptError extends PetrichorError {
  override readonly code = 'store_corrupt' as const;
  readonly file: string;

  constructor(file: string, problem: string, options?: PetrichorErrorOptions) {
    super(
      `${file} ${problem}. Nothing was written to it: restore it from a copy, or move it away to start anew.`,
      options,
    );
    this.file = file;
  }
}

/** The database, or the schema in it, belongs to another program. It was left as it is: name another one. */
export class ForeignDatabaseError extends PetrichorError {
  override readonly code = 'foreign_database' as const;
  readonly file: string;

  constructor(file: string, kind: 'file' | 'schema' = 'file') {
    super(
      `${file} is a database of another program. Nothing was written to it: name another ${kind}.`,
    );
    this.file = file;
  }
}

/** The file was written by a newer Petrichor. It was left as it is: update this one. */
export class StoreVersionError extends PetrichorError {
  override readonly code = 'store_version' as const;
  readonly file: string;
  readonly found: number;
  readonly known: number;

  constructor(file: string, found: number, known: number) {
    super(
      `${file} has schema version ${found}, and this version of Petrichor knows ${known}: update Petrichor to open it.`,
    );
    this.file = file;
    this.found = found;
    this.known = known;
  }
}

/** The store was closed. Open it again. */
export class StoreClosedError extends PetrichorError {
  override readonly code = 'store_closed' as const;

  constructor() {
    super('The store is closed: open it again to use it.');
  }
}

/** There is no such session. Nothing was changed: create it, or correct its key. */
export class SessionNotFoundError extends PetrichorError {
  override readonly code = 'session_not_found' as const;
  readonly key: SessionKey;
  /** True when there was one and it was deleted. */
  readonly deleted: boolean;

  constructor(key: SessionKey, deleted: boolean) {
    super(
      deleted
        ? `Session "${formatSessionKey(key)}" was deleted: create it again to use its id.`
        : `There is no session "${formatSessionKey(key)}": create it, or check its app, user and id.`,
    );
    this.key = key;
    this.deleted = deleted;
  }
}

/** This call already has its answer. Nothing was changed: the earlier answer stands. */
export class AlreadyAnsweredError extends PetrichorError {
  override readonly code = 'already_answered' as const;
  readonly callId: string;
  /** Where the earlier answer stands in the session's inbox. */
  readonly inputSeq: InputSeq;

  constructor(callId: string, inputSeq: InputSeq) {
    super(
      `Call "${callId}" was answered by input ${inputSeq}: the earlier answer stands. Read the log to see it.`,
    );
    this.callId = callId;
    this.inputSeq = inputSeq;
  }
}

/** A step that does not continue its session's journal: a fault in what made it. None of it was written. */
export class InvalidStepError extends PetrichorError {
  override readonly code = 'invalid_step' as const;
  readonly key: SessionKey;
  /** The path of what is wrong, for example `events[0].seq`. */
  readonly field: string;

  constructor(key: SessionKey, field: string, problem: string) {
    super(`Step of session "${formatSessionKey(key)}": ${field} ${problem}`);
    this.key = key;
    this.field = field;
  }
}

/** No store is known for this URL. Nothing was opened: write it as the message says. */
export class UnsupportedStoreUrlError extends PetrichorError {
  override readonly code = 'unsupported_store_url' as const;

  constructor(problem: string) {
    super(
      `${problem} Known forms: "memory:", "sqlite:file.db", "sqlite:///file.db", "sqlite:////absolute/file.db", "postgres://user:password@host/database", or a plain path.`,
    );
  }
}
