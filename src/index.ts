export { agent, agentTool, type Agent, type AgentDefinition } from './agents/index.ts';
export {
  content,
  isPetrichorError,
  InvalidInputError,
  PetrichorError,
  textOf,
  type Content,
  type Json,
  type JsonObject,
  type LogEvent,
  type LogEventOf,
  type PartialEvent,
} from './core/index.ts';
export { ModelError, type Model } from './models/index.ts';
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
  StoreUnavailableError,
  type Store,
} from './store/index.ts';
export { tool, type Tool, type ToolContext } from './tools/index.ts';
