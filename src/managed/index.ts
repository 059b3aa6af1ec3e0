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
} from './agent-def.ts';
export { managedAgent, type ManagedAgentBuilder } from './managed-agent-builder.ts';
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
  AddedEvent,
  EventBatch,
  ForkOptions,
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
export { toSessionEvent, toUsageReport } from './faces/seed-face.ts';
export { openManagedRuntime, type ManagedRuntimeOptions } from './open-managed-runtime.ts';
export { parseAgentDef } from './parse-agent-def.ts';
export { parseUserEvent } from './parse-user-event.ts';
export type { IdleReason, SessionEvent, UsageReport } from './session-event.ts';
export { STATUS_TABLE, type ManagedStatus } from './session-status.ts';
export type { BuiltInSource, McpSource, ServerTools, Skill, SkillSource } from './tool-sources.ts';
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
