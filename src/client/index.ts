export { TurnNotCompletedError, type WaitingCall } from '../core/internal.ts';
export { ApiError } from './api-error.ts';
export { ConnectionError } from './connection-error.ts';
export type { BlockSource, ContentBlock } from './content-block.ts';
export {
  createClient,
  type Client,
  type ClientOptions,
  type PendingFilter,
  type RequestOptions,
  type UsageParams,
} from './create-client.ts';
export type { FollowedChange, WatchOptions } from './follow-changes.ts';
export type { Cursor, FollowOptions } from './follow-events.ts';
export type { FollowRecordsOptions } from './follow-records.ts';
export type { Delay } from './delay.ts';
export type { Schemas } from './generated.ts';
export type {
  Agent,
  AgentChange,
  AgentParams,
  AgentPermissions,
  AgentTool,
  Environment,
  EnvironmentParams,
  Page,
  PageParams,
  PendingCall,
  PendingCallChange,
  Schedule,
  ScheduleParams,
  ScheduleRun,
  Session,
  SessionChange,
  SessionForkPoint,
  SessionMarking,
  SessionModelRequest,
  SessionNet,
  SessionParams,
  SessionRecord,
  SessionListChange,
  Quota,
  UsageTotal,
  ToolPermission,
  ValueDetail,
} from './resources.ts';
export type {
  AcceptedEvent,
  IdleReason,
  Preview,
  SessionEvent,
  StreamedEvent,
} from './session-event.ts';
export { userMessage, type UserEvent, type UserMessage } from './user-event.ts';
