export {
  BUILT_IN_TOOLS,
  type BuiltInToolConfig,
  type BuiltInToolName,
  type CustomToolConfig,
  type ManagedAgentDef,
  type McpServerConfig,
  type PermissionMode,
  type PermissionPolicy,
  type SkillRef,
  type ToolConfig,
} from './agent-def.ts';
export {
  AgentArchivedError,
  AgentNotFoundError,
  AgentVersionConflictError,
  DurabilityError,
  IllegalTransitionError,
  ManagedSessionNotFoundError,
  MissingServiceError,
  SubscriberTooSlowError,
} from './managed-errors.ts';
export type {
  ManagedAgent,
  ManagedRuntime,
  ManagedSession,
  Page,
  PageOptions,
  SentEvent,
  SessionDeleted,
  SessionEnvironment,
  SessionOwner,
  StartOptions,
  StreamedEvent,
  StreamOptions,
} from './managed-runtime.ts';
export type { IdleReason, SessionEvent, UsageReport } from './session-event.ts';
export { STATUS_TABLE, type ManagedStatus } from './session-status.ts';
export type {
  ContentBlock,
  UserCustomToolResultEvent,
  UserDefineOutcomeEvent,
  UserEvent,
  UserInterruptEvent,
  UserMessageEvent,
  UserToolConfirmationEvent,
  UserToolResultEvent,
} from './user-event.ts';
