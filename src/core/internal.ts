/** Exports of `core/` for other folders of `src/`. Portable code only: the client runs in browsers. */

export { readProviderPart, toAdkParts } from './content/provider-part.ts';
export { getErrorCode } from './errors/get-error-code.ts';
export { importOptional, isModuleNotFound } from './errors/import-optional.ts';
export { InvalidInputError } from './errors/invalid-input-error.ts';
export { OutcomeUnknownError } from './errors/outcome-unknown-error.ts';
export { PetrichorError, isPetrichorError } from './errors/petrichor-error.ts';
export { QUOTA_LABELS } from './errors/quota-exceeded-error.ts';
export { nearestName } from './errors/unknown-field-error.ts';
export { SCHEDULES_SESSION } from './identity/schedules-session.ts';
export { INTERRUPTED_METADATA, AUDIBLE_METADATA } from './events/live-metadata.ts';
export { compactList } from './json/compact-list.ts';
export { frozenJson } from './json/frozen-json.ts';
export { isObject, isRecord, readMember, readOwn } from './json/is-record.ts';
export { deepFreeze, isJsonObject } from './json/json.ts';
export { omitUndefined } from './json/omit-undefined.ts';
export { applyKeyWrite, isOverwrite, mergeKeyWrites, type KeyWrite } from './state/key-write.ts';
export { isSharedKey, isStateKey, isTempKey } from './state/state-key.ts';
export {
  applyWrites,
  isEmptyWrites,
  listConflicts,
  listOverwrittenKeys,
  listWrittenKeys,
  mergeBasedWrites,
  mergeWrites,
  restrictWrites,
  toStateDelta,
  toStateWrites,
  writtenValues,
} from './state/state-writes.ts';
export { checkChoice } from './validation/check-choice.ts';
export { packageFile, packageProgram } from './package/package-files.ts';
export { describeValue, isPromise } from './validation/describe-value.ts';
export { isClosedStatus, isSessionStatus } from './turn/session-status.ts';
export {
  readAnswer,
  TurnNotCompletedError,
  type TurnStop,
  type WaitingCall,
} from './turn/turn-not-completed-error.ts';
export {
  checkDefinition,
  checkOptions,
  optionTable,
  type OptionTable,
} from './validation/option-table.ts';
export { mergeEventActions } from './events/event-actions.ts';
export { GROUNDING_METADATA, toUsageMetadata } from './events/model-metadata.ts';
export {
  parseUserInputId,
  toApprovalHint,
  toUserInputCall,
  toUserInputId,
  unwrapUserInput,
} from './events/user-input-call.ts';
export { isLoopbackHost, toListenError } from './validation/listen-address.ts';
