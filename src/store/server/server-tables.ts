import type { SessionKey } from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import type { StatusCount } from '../rules/row-status.ts';
import type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  StoredDocument,
} from '../documents.ts';
import { SessionNotFoundError } from '../store-errors.ts';
import type {
  InputSeq,
  OwnerId,
  PendingCallQuery,
  RunnableQuery,
  SessionChangePage,
  SessionChangeQuery,
  SessionCountFilter,
  SessionFilter,
  SessionPendingCall,
  SharedState,
  StepNumber,
  UsageQuery,
  UsageTotal,
  UserQuery,
} from '../store.ts';
import type { InboxColumns, AppendedInput, InputKey } from './inbox-row.ts';
import type { ItemStatements } from './item-statements.ts';
import type { JournalStatements } from './journal-reader.ts';
import type { OwnerRow } from './owner-failure-detector.ts';
import type { FullRow, NewSession } from './session-row.ts';
import type { SharedStatements } from './shared-values.ts';
import type { StepWrites } from './step-writes.ts';
import type { TrimWrites } from './trim-writes.ts';

/** The columns by which lists of sessions are sorted. */
export type ListPosition = Pick<
  FullRow,
  'created_at' | 'updated_at' | 'app' | 'user_id' | 'name' | 'id'
>;

/** What one look at the store shows: the sessions with work, the next timer, and the owners. */
export interface RunnableRows {
  readonly rows: readonly FullRow[];
  readonly due: number | null;
  readonly owners: readonly OwnerRow[];
}

/**
 * The statements of a store on a database server. `R` runs each in a transaction of its own, `W` in an open one.
 */
export interface ServerTables<R, W extends R>
  extends JournalStatements<R>, SharedStatements<W>, ItemStatements<R, W> {
  findSession(queries: R, key: SessionKey): Promise<FullRow | undefined>;

  /** Lists those of the sessions that exist, locked or not. */
  listExisting(queries: R, keys: readonly SessionKey[]): Promise<readonly SessionKey[]>;

  /** True when the session existed and was deleted. */
  wasDeleted(queries: R, key: SessionKey): Promise<boolean>;

  /** Inserts a row and returns it. Undefined when the session exists already. */
  insertSession(queries: W, key: SessionKey, init: NewSession): Promise<FullRow | undefined>;

  /** @param after the sort columns of the session that the list continues after */
  listSessions(
    queries: R,
    filter: SessionFilter,
    after: Partial<ListPosition> | undefined,
  ): Promise<readonly FullRow[]>;

  countSessions(queries: R, filter: SessionCountFilter): Promise<readonly StatusCount[]>;
  countBytes(queries: R, filter: SessionCountFilter): Promise<number>;
  listUsers(queries: R, query: UserQuery): Promise<readonly string[]>;

  /**
   * Reads and locks the existing rows of these sessions until the transaction ends. Never waits: a row that another
   * client has locked fails the statement, or is left out with `skip`.
   */
  lockSessions(
    queries: W,
    keys: readonly SessionKey[],
    ifLocked: 'fail' | 'skip',
  ): Promise<readonly FullRow[]>;

  /** Reads and locks a session and the sessions of agents that it called. Never waits. */
  lockFamily(queries: W, key: SessionKey): Promise<readonly FullRow[]>;

  /** Deletes locked sessions, and leaves tombstones. */
  deleteSessions(queries: W, rows: readonly FullRow[]): Promise<void>;

  /** Sets the owner of a locked session, and increases the epoch. */
  setOwner(queries: W, id: FullRow['id'], owner: OwnerId | null): Promise<void>;

  /** Sets the failed attempts to load a locked session, and makes it the newest change. */
  setFailures(queries: W, id: FullRow['id'], failures: number): Promise<void>;

  /** Makes a locked session the newest change. */
  touchSession(queries: W, id: FullRow['id']): Promise<void>;

  /** Writes the accepted steps of a commit, whose sessions are locked. */
  writeSteps(queries: W, writes: StepWrites): Promise<void>;

  /** Finds the number of the last record of a step. Undefined when there is no such step. */
  findLastRecord(queries: R, id: FullRow['id'], step: StepNumber): Promise<RecordSeq | undefined>;

  /** Shortens the journal of a locked session. */
  writeTrim(queries: W, id: FullRow['id'], trim: TrimWrites): Promise<void>;

  findInput(queries: R, id: FullRow['id'], dedupeKey: string): Promise<InputSeq | undefined>;

  /** Finds those of the dedupe keys that their sessions have. */
  findInputKeys(queries: R, keys: readonly InputKey[]): Promise<readonly InputKey[]>;

  /** Reads the unread inputs of a session with a number above `after`. */
  readInbox(queries: R, id: FullRow['id'], after: InputSeq): Promise<readonly InboxColumns[]>;

  /** Appends an input to the inbox of a locked session. */
  insertInput(queries: W, id: FullRow['id'], input: AppendedInput): Promise<void>;

  /** @param query.dead the owners that are known to be dead; every other owner in the table counts as alive */
  findRunnable(
    queries: R,
    query: RunnableQuery & { readonly dead: readonly OwnerRow[] },
  ): Promise<RunnableRows>;

  listPendingCalls(queries: R, query: PendingCallQuery): Promise<readonly SessionPendingCall[]>;
  readChanges(queries: R, query: SessionChangeQuery): Promise<SessionChangePage>;
  readUsage(queries: R, query: UsageQuery): Promise<readonly UsageTotal[]>;
  readSharedState(
    queries: R,
    scope: { readonly appName: string; readonly userId: string },
  ): Promise<SharedState>;

  readDocument(queries: R, kind: string, id: string): Promise<StoredDocument | undefined>;
  listDocuments(queries: R, query: DocumentQuery): Promise<readonly StoredDocument[]>;

  /** Applies all changes, which have been checked, or none. */
  writeDocuments(queries: W, changes: readonly DocumentChange[]): Promise<DocumentResult>;
}

/** @throws SessionNotFoundError */
export async function getSession<R, W extends R>(
  tables: ServerTables<R, W>,
  queries: R,
  key: SessionKey,
): Promise<FullRow> {
  const row = await tables.findSession(queries, key);
  if (row === undefined) throw await notFound(tables, queries, key);
  return row;
}

/** Reads a row and locks it until the transaction ends. @throws SessionNotFoundError */
export async function lockSession<R, W extends R>(
  tables: ServerTables<R, W>,
  queries: W,
  key: SessionKey,
): Promise<FullRow> {
  const [row] = await tables.lockSessions(queries, [key], 'fail');
  if (row === undefined) throw await notFound(tables, queries, key);
  return row;
}

export async function notFound<R, W extends R>(
  tables: ServerTables<R, W>,
  queries: R,
  key: SessionKey,
): Promise<SessionNotFoundError> {
  return new SessionNotFoundError(key, await tables.wasDeleted(queries, key));
}
