/** Exports of `store/` for other folders of `src/`, without SQLite, PostgreSQL and MySQL. */

export { MemoryStore } from './memory/memory-store.ts';
export { openStore } from './open/open-store.ts';
export { readOnlyStore } from './open/read-only-store.ts';
export { parseStoreUrl } from './open/store-url.ts';
export { checkSessionId } from './rules/check-session-id.ts';
export { describeStoreUrl } from './rules/describe-store-url.ts';
export { STORED_STATUSES } from './rules/row-status.ts';
export { toRunnablePosition } from './rules/runnable-position.ts';
export { answerKey, duplicateReceipt, isAnswerKey } from './rules/dedupe-key.ts';
export {
  AlreadyAnsweredError,
  InvalidStepError,
  SessionExistsError,
  SessionNotFoundError,
  StoreClosedError,
  StoreUnavailableError,
  UnsupportedStoreUrlError,
} from './store-errors.ts';
export { findFirstStep } from './rules/first-step.ts';
