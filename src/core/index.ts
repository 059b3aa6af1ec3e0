export { decodeInlineData, toInlineData } from './content/encode-inline-data.ts';
export {
  decodedSize,
  InlineDataTooLargeError,
  MAX_INLINE_DATA_SIZE,
  validateBase64,
} from './content/inline-data.ts';
export { content, type ContentBuilder } from './content/content-builder.ts';
export { getProviderToolCalls, type ProviderToolCall } from './content/provider-part.ts';
export { parseContent, type ParseContentOptions } from './content/parse-content.ts';
export {
  isFileDataPart,
  isFunctionCallPart,
  isFunctionResponsePart,
  isInlineDataPart,
  isOpaquePart,
  isTextPart,
  contentText,
  contentThinking,
  userContent,
  type ArgsError,
  type Content,
  type FileData,
  type FileDataPart,
  type FunctionCall,
  type FunctionCallPart,
  type FunctionResponse,
  type FunctionResponsePart,
  type InlineData,
  type InlineDataPart,
  type OpaquePart,
  type Part,
  type Role,
  type TextPart,
  type ThoughtSignature,
} from './content/content.ts';
export { canonicalJson } from './json/canonical-json.ts';
export { decodeJson, InvalidJsonError } from './json/decode-json.ts';
export { encodeJson, MAX_JSON_DEPTH } from './json/encode-json.ts';
export { frozenJson } from './json/frozen-json.ts';
export {
  assertUserParts,
  parseUserContent,
  type ParseUserContentOptions,
} from './content/parse-user-content.ts';
export {
  checkOptions,
  optionTable,
  type OptionNames,
  type OptionTable,
} from './validation/option-table.ts';
export {
  QuotaExceededError,
  type QuotaName,
  type QuotaScope,
  type QuotaStatus,
} from './errors/quota-exceeded-error.ts';
export { UnknownFieldError } from './errors/unknown-field-error.ts';
export {
  isPetrichorError,
  PetrichorError,
  type PetrichorErrorOptions,
} from './errors/petrichor-error.ts';
export {
  createEventActions,
  type AuthConfig,
  type EventActions,
  type EventCompaction,
  type Route,
  type RouteValue,
  type ToolConfirmation,
  type UiWidget,
} from './events/event-actions.ts';
export {
  isFinalResponse,
  eventMessage,
  type Event,
  type AdkFinishReason,
  type FinishReason,
  type UsageMetadata,
  type NodeInfo,
  type ProviderMetadata,
  type Transcription,
} from './events/event.ts';
export {
  getFunctionCalls,
  getFunctionResponses,
  type ContentSource,
} from './content/function-calls.ts';
export {
  deriveCallId,
  deriveEventId,
  deriveInvocationId,
  newMessageId,
  newSessionId,
  newSessionUid,
  deriveScheduleSessionId,
  sha256Hex,
  type CallId,
  type FiringId,
  type InvocationId,
  type MessageId,
  type SessionId,
  type SessionUid,
} from './identity/ids.ts';
export {
  calledAgentFiring,
  calledAgentRequest,
  calledAgentResume,
  calledAgentWaits,
  type CalledAgentWait,
} from './events/called-agent.ts';
export {
  directChildSessionId,
  parentSessionId,
  childSessionId,
  isChildSessionId,
  isDescendantSession,
  rootSessionId,
} from './identity/child-session-id.ts';
export { InvalidInputError } from './errors/invalid-input-error.ts';
export {
  deepFreeze,
  isJsonObject,
  isPlainObject,
  type Json,
  type JsonArray,
  type JsonObject,
} from './json/json.ts';
export type {
  AgentMessage,
  AgentRunChanged,
  ErrorOccurred,
  EventAppended,
  LogEntry,
  LogEvent,
  LogEventByType,
  LogEventType,
  LoggedError,
  ModelAttempt,
  OutcomeDefined,
  OutcomeEnded,
  OutcomeEvaluated,
  Seq,
  SessionStatusChanged,
  SessionRewound,
  SessionUpgraded,
  StateChanged,
  ToolAnswered,
  ToolAttempt,
  ToolCall,
  ToolCallNeeds,
  ToolOrigin,
  ToolOutcome,
  ToolPending,
  ToolResult,
  TurnEnded,
  TurnRescheduled,
  TurnResumed,
  TurnStarted,
  TurnWaiting,
  UserMessage,
} from './events/log-event.ts';
export {
  assertInputSize,
  DEFAULT_MAX_INPUT_BYTES,
  InputTooLargeError,
} from './validation/input-size.ts';
export { safeListener } from './errors/safe-listener.ts';
export { NotSerializableError } from './errors/not-serializable-error.ts';
export { OutcomeUnknownError } from './errors/outcome-unknown-error.ts';
export type { PartialEvent, PartialReset, PartialText } from './events/partial-event.ts';
export {
  formatSessionKey,
  MAX_IDENTITY_LENGTH,
  parseIdentity,
  parseSessionKey,
  type SessionKey,
} from './identity/session-key.ts';
export { validateStateDelta, type StateDelta } from './state/state-delta.ts';
export {
  InvalidStateKeyError,
  MAX_STATE_KEY_LENGTH,
  normalizeStateKey,
  parseStateKey,
  formatStateKey,
  getStateScope,
  validateStateKey,
  type ScopedStateKey,
  type StateScope,
} from './state/state-key.ts';
export type { StateWrites } from './state/state-writes.ts';
export { isStopReason, STOP_REASONS, type StopReason } from './events/stop-reason.ts';
export { STATUS_TABLE, type SessionActivity, type SessionStatus } from './turn/session-status.ts';
export { InvalidOutputError, type OutputIssue } from './turn/invalid-output-error.ts';
export {
  TurnNotCompletedError,
  type TurnStop,
  type WaitingCall,
} from './turn/turn-not-completed-error.ts';
export { fromAdkSeconds, toAdkSeconds, type Timestamp } from './events/timestamp.ts';
export { AdkEventMapper } from './events/adk-event-mapper.ts';
export { addUsage, noUsage, type Usage } from './events/usage.ts';
