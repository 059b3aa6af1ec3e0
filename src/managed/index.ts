export {
  BUILT_IN_TOOLS,
  type AgentRef,
  type BuiltInToolConfig,
  type BuiltInToolName,
  type CustomToolConfig,
  type ManagedAgentDef,
  type McpServerConfig,
  type PermissionMode,
  type PermissionPolicy,
  type SkillRef,
  type ToolConfig,
} from './interface/agent-def.ts';
export { IllegalTransitionError } from '../runtime/index.ts';
export { managedAgent, type ManagedAgentBuilder } from './parsing/managed-agent-builder.ts';
export {
  AgentArchivedError,
  AgentFromCodeError,
  AgentNotFoundError,
  AgentVersionConflictError,
  DurabilityError,
  ManagedSessionNotFoundError,
  MissingServiceError,
  SubscriberTooSlowError,
} from './interface/managed-errors.ts';
export type {
  AddedEvent,
  DeleteSessionOptions,
  EventBatch,
  ForkOptions,
  CodeAgent,
  DefinedAgent,
  ManagedAgent,
  ManagedRuntime,
  ManagedSession,
  Page,
  PageOptions,
  SentEvent,
  SessionDeleted,
  SessionEnvironment,
  SessionOwner,
  SessionRef,
  StartOptions,
  StreamedLogEvent,
  StreamOptions,
} from './interface/managed-runtime.ts';
export { toSessionEvent, toUsageReport } from './projections/to-session-event.ts';
export { definitions } from './compilation/definitions.ts';
export type { DefinitionOptions } from './compilation/definition-options.ts';
export { manageRuntime, type ManageOptions } from './manage-runtime.ts';
export { openManagedRuntime } from './open-managed-runtime.ts';
export { type ManagedRuntimeOptions } from './managed-runtime-options.ts';
export { parseAgentDef } from './parsing/parse-agent-def.ts';
export { parseUserEvent } from './parsing/parse-user-event.ts';
export type { IdleReason, SessionEvent, UsageReport } from './interface/session-event.ts';
export { STATUS_TABLE, type ManagedStatus } from './interface/session-status.ts';
export type {
  BuiltInSource,
  McpSource,
  ServerTools,
  Skill,
  SkillSource,
} from './interface/tool-sources.ts';
export type {
  ContentBlock,
  UserCustomToolResultEvent,
  UserDefineOutcomeEvent,
  UserEvent,
  UserInterruptEvent,
  UserMessageEvent,
  UserToolConfirmationEvent,
  UserToolResultEvent,
} from './interface/user-event.ts';
