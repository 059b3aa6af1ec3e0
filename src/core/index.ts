export {
  bytesOf,
  decodedSize,
  inlineDataOf,
  InlineDataTooLargeError,
  MAX_INLINE_DATA_SIZE,
  validateBase64,
} from './inline-data.ts';
export { content, type ContentBuilder } from './content-builder.ts';
export { parseContent, type ParseContentOptions } from './content-schema.ts';
export {
  isFileDataPart,
  isFunctionCallPart,
  isFunctionResponsePart,
  isInlineDataPart,
  isOpaquePart,
  isTextPart,
  textOf,
  thinkingOf,
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
} from './content.ts';
export {
  canonicalJson,
  decodeJson,
  encodeJson,
  InvalidJsonError,
  MAX_JSON_DEPTH,
} from './encode-json.ts';
export { frozenJson } from './frozen-json.ts';
export {
  assertUserParts,
  parseUserContent,
  type ParseUserContentOptions,
} from './parse-user-content.ts';
export { checkOptions, optionTable, type OptionNames, type OptionTable } from './option-table.ts';
export { parseJson } from './parse-with.ts';
export { UnknownFieldError } from './unknown-field-error.ts';
export { isPetrichorError, PetrichorError, type PetrichorErrorOptions } from './errors.ts';
export {
  eventActions,
  type AuthConfig,
  type EventActions,
  type EventCompaction,
  type Route,
  type RouteValue,
  type ToolConfirmation,
  type UiWidget,
} from './event-actions.ts';
export {
  isFinalResponse,
  messageOf,
  type Event,
  type NodeInfo,
  type ProviderMetadata,
} from './event.ts';
export type { FinishReason } from './finish-reason.ts';
export { functionCallsOf, functionResponsesOf, type ContentSource } from './function-calls.ts';
export {
  callIdOf,
  eventIdOf,
  invocationIdOf,
  newMessageId,
  newSessionId,
  newSessionUid,
  sha256Hex,
  type CallId,
  type FiringId,
  type InvocationId,
  type MessageId,
  type SessionId,
  type SessionUid,
} from './ids.ts';
export {
  calledAgentFiring,
  calledAgentRequest,
  calledAgentResume,
  calledAgentWaits,
  type CalledAgentWait,
} from './called-agent.ts';
export {
  calledSessionId,
  callingSessionId,
  childSessionId,
  isChildSessionId,
  isChildSessionOf,
  rootSessionId,
} from './child-session-id.ts';
export { InvalidInputError } from './invalid-input-error.ts';
export {
  deepFreeze,
  isJsonObject,
  isPlain,
  type Json,
  type JsonArray,
  type JsonObject,
} from './json.ts';
export type {
  AgentMessage,
  ErrorOccurred,
  EventAppended,
  LogEntry,
  LogEvent,
  LogEventOf,
  LogEventType,
  LoggedError,
  ModelAttempt,
  OutcomeDefined,
  OutcomeEnded,
  OutcomeEvaluated,
  Seq,
  SessionMoved,
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
} from './log-event.ts';
export { assertInputSize, DEFAULT_MAX_INPUT_BYTES, InputTooLargeError } from './input-size.ts';
export { safeListener } from './listener.ts';
export { NotSerialisableError } from './not-serialisable-error.ts';
export { OutcomeUnknownError } from './outcome-unknown-error.ts';
export type { PartialEvent, PartialReset, PartialText } from './partial-event.ts';
export {
  formatSessionKey,
  MAX_IDENTITY_LENGTH,
  parseIdentity,
  parseSessionKey,
  type SessionKey,
} from './session-key.ts';
export { validateStateDelta, type StateDelta } from './state-delta.ts';
export {
  InvalidStateKeyError,
  MAX_STATE_KEY_LENGTH,
  normalStateKey,
  scopedStateKeyOf,
  stateKeyOf,
  stateScopeOf,
  validateStateKey,
  type ScopedStateKey,
  type StateScope,
} from './state-key.ts';
export { isStopReason, STOP_REASONS, type StopReason } from './stop-reason.ts';
export { fromAdkSeconds, toAdkSeconds, type Timestamp } from './timestamp.ts';
export { toAdkEvent } from './to-adk-event.ts';
export { addUsage, noUsage, type Usage } from './usage.ts';
