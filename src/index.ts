export type { Agent } from './agents/agent.ts';
export { agentTool } from './agents/agent-tool.ts';
export { custom } from './agents/custom.ts';
export { agent, type AgentDefinition } from './agents/define-agent.ts';
export { loop } from './agents/loop.ts';
export { parallel } from './agents/parallel.ts';
export { sequential } from './agents/sequential.ts';
export {
  content,
  isPetrichorError,
  InputTooLargeError,
  InvalidInputError,
  OutcomeUnknownError,
  PetrichorError,
  textOf,
  type Content,
  type Json,
  type JsonObject,
  type LogEvent,
  type LogEventOf,
  type PartialEvent,
} from './core/index.ts';
export { ModelError } from './models/model-error.ts';
export type { Model } from './models/model.ts';
export { NetBuildError, NetChangedError, UnknownPlaceError } from './net/index.ts';
export {
  AgentMismatchError,
  CallNotPendingError,
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
export { tool, type Tool } from './tools/tool.ts';
export type { ToolContext } from './tools/tool-context.ts';
