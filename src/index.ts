export type { Agent } from './agents/agent/agent.ts';
export { agentTool } from './agents/tools/agent-tool.ts';
export { custom } from './agents/custom/custom.ts';
export { agent, type AgentDefinition } from './agents/llm/define-agent.ts';
export { loop } from './agents/kinds/loop.ts';
export { parallel } from './agents/kinds/parallel.ts';
export { sequential } from './agents/kinds/sequential.ts';
export {
  content,
  isPetrichorError,
  InputTooLargeError,
  InvalidInputError,
  InvalidOutputError,
  OutcomeUnknownError,
  PetrichorError,
  TurnNotCompletedError,
  contentText,
  type Content,
  type Json,
  type JsonObject,
  type LogEvent,
  type LogEventByType,
  type PartialEvent,
} from './core/index.ts';
export { ModelError } from './models/model/model-error.ts';
export { ModelNotResolvedError } from './models/reference/model-not-resolved-error.ts';
export type { Model } from './models/model/model.ts';
export { NetBuildError, NetChangedError, UnknownPlaceError } from './net/index.ts';
export {
  AgentMismatchError,
  CallNotPendingError,
  IllegalTransitionError,
  openRuntime,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
  type Observer,
  type PendingCall,
  type Runtime,
  type RuntimeOptions,
  type Session,
  type Turn,
} from './runtime/index.ts';
export {
  AlreadyAnsweredError,
  SessionNotFoundError,
  StoreCorruptError,
  StoreFailedError,
  StoreUnavailableError,
} from './store/store-errors.ts';
export type { Store } from './store/store.ts';
export { tool, type Tool } from './tools/tool/tool.ts';
export type { ToolContext } from './tools/tool/tool-context.ts';
