export { answerKey } from './rules/dedupe-key.ts';
export type {
  DocumentChange,
  DocumentQuery,
  DocumentResult,
  DocumentStore,
  StoredDocument,
} from './documents.ts';
export type { Failpoints } from './failpoints.ts';
export { MemoryStore, type MemoryStoreOptions } from './memory/memory-store.ts';
export { openStore, type StoreOptions } from './open/open-store.ts';
export type { MysqlStoreOptions } from './mysql/mysql-store-options.ts';
export type { MysqlStore } from './mysql/mysql-store.ts';
export { MissingMysqlPackageError } from './mysql/mysql-errors.ts';
export type { PostgresStoreOptions } from './postgres/postgres-store-options.ts';
export type { PostgresStore } from './postgres/postgres-store.ts';
export { MissingPostgresPackageError } from './postgres/postgres-errors.ts';
export { openSqliteStore } from './sqlite/open-sqlite-store.ts';
export type { SqliteFailpoints, SqliteStoreOptions } from './sqlite/sqlite-store-options.ts';
export type { SqliteStore } from './sqlite/sqlite-store.ts';
export {
  AlreadyAnsweredError,
  ForeignDatabaseError,
  InvalidStepError,
  SessionExistsError,
  SessionNotFoundError,
  StoreClosedError,
  StoreCorruptError,
  StoreFailedError,
  StoreInUseError,
  StoreNotEmptyError,
  StoreUnavailableError,
  StoreVersionError,
  UnsupportedStoreUrlError,
  type UnavailableReason,
} from './store-errors.ts';
export { parseStoreUrl, type StoreUrl } from './open/store-url.ts';
export type {
  ChangeOrigin,
  ClaimResult,
  CommitResult,
  CommittedStep,
  DeleteCondition,
  Durability,
  InboxRow,
  InjectReceipt,
  JournalTrim,
  InboxInput,
  InputSeq,
  OwnerId,
  PendingCallQuery,
  StoredPendingCall,
  SessionChangePage,
  SessionChangeQuery,
  RunnablePage,
  RunnablePosition,
  RunnableQuery,
  CreationPosition,
  SessionFilter,
  SessionOrder,
  SessionCountFilter,
  SessionCounts,
  SessionSelection,
  SessionInit,
  SessionInput,
  SessionPendingCall,
  SessionReplacement,
  SessionRow,
  SessionRowChange,
  StoredStatus,
  SessionSummary,
  SettledStep,
  SharedState,
  StepNumber,
  StepUsage,
  Store,
  StoreListener,
  Submission,
  SubmitResult,
  UsageDimension,
  UsageQuery,
  UsageTotal,
  VacuumOptions,
  VacuumResult,
  UserQuery,
} from './store.ts';
export type {
  DocumentItem,
  ExportSelection,
  ItemImportOptions,
  InputItem,
  SessionItem,
  SharedItem,
  SnapshotItem,
  StepItem,
  StoreItem,
  TombstoneItem,
  UsageItem,
} from './store-item.ts';
export type { IndexedText, TextIndex } from './text-index.ts';
