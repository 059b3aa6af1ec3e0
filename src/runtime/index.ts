export {
  OutcomesNotEnabledError,
  type DefineOutcomeOptions,
  type OutcomeReceipt,
} from './session/define-outcome.ts';
export type { AppendOptions, AppendReceipt, EventToAppend } from './session/append-event.ts';
export type { Interceptor, ObservedSession } from './interceptors/interceptor.ts';
export {
  chainObservers,
  loggingObserver,
  recordingObserver,
  type CommittedRecords,
  type Observer,
} from './interceptors/observer.ts';
export {
  AgentMismatchError,
  CallNotPendingError,
  CloseTimeoutError,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
} from './session/runtime-errors.ts';
export { IllegalTransitionError } from './session/illegal-transition-error.ts';
export type { AddedInput, InputBatch } from './session/input-batch.ts';
export type { ForkPoint } from './inspection/fork-points.ts';
export type {
  InspectedFiring,
  InspectedMarking,
  InspectedPlace,
} from './inspection/inspect-marking.ts';
export type {
  InspectedListChange,
  InspectedMapChange,
  InspectedRecord,
  InspectedToken,
  InspectedTokens,
  MarkingOptions,
  RecordsOptions,
} from './inspection/inspected-record.ts';
export type { InspectedModelRequest } from './inspection/model-request.ts';
export type {
  ArcDescription,
  ArcWeight,
  DescribedMs,
  LayoutEdge,
  LayoutEngine,
  LayoutSubnet,
  NetDescription,
  NetLayout,
  NetOptions,
  NodePosition,
  PlaceDescription,
  SubnetDescription,
  TransitionDescription,
} from './inspection/net-description.ts';
export type { SessionInspection } from './inspection/session-inspection.ts';
export type { ValueDetail } from './inspection/value-detail.ts';
export type {
  AttachableSession,
  AttachmentServices,
  SessionAttachment,
  SessionAttachments,
} from './hosting/session-attachment.ts';
export type {
  DispatchRequest,
  DispatchTarget,
  DriveResult,
  SessionDispatcher,
} from './scheduling/session-dispatcher.ts';
export {
  checkBackup,
  restoreBackup,
  writeBackup,
  type BackupCounts,
  type BackupOptions,
} from './copies/backup.ts';
export {
  importSession,
  type ImportedSession,
  type ImportSessionOptions,
} from './copies/import-session.ts';
export { exportSessionItems } from './copies/export-session-items.ts';
export {
  ArchiveUnavailableError,
  DamagedArchiveError,
  SessionNotArchivedError,
} from './copies/archive-errors.ts';
export {
  SessionArchive,
  type ArchivedCopy,
  type ArchivedState,
  type ArchiveSelection,
  type SessionArchiveOptions,
} from './copies/session-archive.ts';
export { measureSessions, type SessionSize, type SizeOptions } from './copies/session-sizes.ts';
export { SessionDeletingError } from './copies/session-deleting-error.ts';
export { DamagedCopyError } from './copies/damaged-copy-error.ts';
export { JournalTrimmedError } from './journal/journal-trimmed-error.ts';
export {
  trimJournal,
  type JournalTrimming,
  type JournalTrimOptions,
} from './journal/trim-journal.ts';
export { UnverifiedBaseError } from './journal/unverified-base-error.ts';
export {
  removeOrphans,
  type OrphanOptions,
  type RemovedOrphans,
} from './retention/remove-orphans.ts';
export {
  applyRetention,
  type RetentionOptions,
  type RetentionResult,
} from './retention/apply-retention.ts';
export {
  parseRetentionPolicy,
  type RetainableStatus,
  type RetentionObstacle,
  type RetentionPolicy,
  type RetentionRule,
} from './retention/retention-policy.ts';
export { openRuntime } from './open-runtime.ts';
export type { AgentSource, AgentSourceHost, OpenAgentSource } from './sources/agent-source.ts';
export type { ModelsOption } from './sources/named-models.ts';
export type {
  ListedPendingCall,
  PendingCallFilter,
  PendingCallPage,
  PendingCallPageOptions,
} from './listing/pending-call-listing.ts';
export type { SessionChangeEvent, SessionChangesOptions } from './listing/session-changes.ts';
export type { PendingCallChange, WatchPendingOptions } from './listing/watch-pending-calls.ts';
export type {
  DrainOptions,
  QuotaOptions,
  Runtime,
  SessionListOptions,
  UsageOptions,
} from './runtime.ts';
export { parseQuotas, type ModelPrice, type QuotaLimits, type Quotas } from './quotas/quotas.ts';
export { ModelPriceMissingError } from './quotas/model-cost.ts';
export type { RuntimeOptions } from './runtime-options.ts';
export type {
  AskOptions,
  EventsOptions,
  PendingCall,
  SendOptions,
  Session,
  InterruptOptions,
  SessionForkOptions,
  SessionOptions,
} from './session/session.ts';
export type { Turn } from './session/turn.ts';
export {
  createCommitter,
  type Committer,
  type CommitterOptions,
  type FinalCommitResult,
} from './scheduling/committer.ts';
export {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from './scheduling/dispatcher.ts';
export type {
  ScheduleBackfill,
  ScheduleDefinition,
  ScheduleOverlap,
  StoredSchedule,
} from './schedules/schedule-definition.ts';
export { ScheduleExistsError, ScheduleNotFoundError } from './schedules/schedule-errors.ts';
export type {
  ScheduledRun,
  ScheduledRunKind,
  ScheduledRunStatus,
} from './schedules/schedule-places.ts';
export type {
  Schedule,
  ScheduleHistoryOptions,
  ScheduleListOptions,
  ScheduleRunOptions,
  Schedules,
  ScheduleStatus,
  ScheduleUser,
} from './schedules/schedules.ts';
