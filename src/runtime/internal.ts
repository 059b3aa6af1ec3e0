/** Exports of `runtime/` for other folders of `src/`. The package does not publish them. */

export { applyInbox } from './hosting/apply-inbox.ts';
export { countCalledModelCalls } from './called-agents/model-call-counts.ts';
export { closeInTime } from './scheduling/close-in-time.ts';
export { DEFAULT_CLOSE_TIMEOUT_MS } from './runtime-options.ts';
export {
  lastSeqBefore,
  listAcceptedInputs,
  type AcceptedInput,
} from './journal/accepted-inputs.ts';
export { describeNet } from './inspection/describe-net.ts';
export { exportArtifacts } from './copies/artifact-item.ts';
export { toFileSource, writeCopyFile } from './copies/copy-file.ts';
export { toCopyLines } from './copies/copy-lines.ts';
export {
  importSessionCopy,
  JOURNAL_FILE_VERSION,
  type SessionFile,
} from './copies/import-session.ts';
export { assertArchive, RETENTION_POLICY_SCHEMA } from './retention/retention-policy.ts';
export { hydrate } from './journal/hydrate.ts';
export { findCurrentWait } from './log/find-current-wait.ts';
export { findReportedCalls } from './log/find-reported-call.ts';
export { QuotaLedger } from './quotas/quota-ledger.ts';
export { deleteMemoryCursor, ingestMemory } from './memory/ingest-memory.ts';
