export {
  createCommitter,
  type Committer,
  type CommitterOptions,
  type FinalCommitResult,
} from './committer.ts';
export { answerKey } from './dedupe-key.ts';
export { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatcher.ts';
export type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  DocumentStore,
  StoredDocument,
} from './documents.ts';
export type { Failpoints } from './failpoints.ts';
export { MemoryStore, type MemoryStoreOptions } from './memory-store.ts';
export { openStore, type StoreOptions } from './open-store.ts';
export type { PostgresStore, PostgresStoreOptions } from './postgres-store.ts';
export { MissingPostgresPackageError } from './postgres/postgres-errors.ts';
export {
  openSqliteStore,
  type SqliteFailpoints,
  type SqliteStore,
  type SqliteStoreOptions,
} from './sqlite-store.ts';
export {
  AlreadyAnsweredError,
  ForeignDatabaseError,
  InvalidStepError,
  SessionNotFoundError,
  StoreClosedError,
  StoreCorruptError,
  StoreFailedError,
  StoreUnavailableError,
  StoreVersionError,
  UnsupportedStoreUrlError,
  type UnavailableReason,
} from './store-errors.ts';
export { parseStoreUrl, type StoreUrl } from './store-url.ts';
export type {
  CommitResult,
  CommittedStep,
  Durability,
  InboxRow,
  InjectReceipt,
  Input,
  InputSeq,
  OwnerId,
  PendingCall,
  SessionFilter,
  SessionInit,
  SessionInput,
  SessionRow,
  SessionStatus,
  SessionSummary,
  SettledStep,
  SharedState,
  StepNumber,
  Store,
  StoreListener,
  Submission,
  SubmitResult,
} from './store.ts';
export type { IndexedText, TextIndex } from './text-index.ts';
