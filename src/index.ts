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
export type { Observer } from './runtime/interceptors/observer.ts';
export { openRuntime } from './runtime/open-runtime.ts';
export type { RuntimeOptions } from './runtime/runtime-options.ts';
export type { Runtime } from './runtime/runtime.ts';
export { IllegalTransitionError } from './runtime/session/illegal-transition-error.ts';
export {
  AgentMismatchError,
  CallNotPendingError,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
} from './runtime/session/runtime-errors.ts';
export type { PendingCall, Session } from './runtime/session/session.ts';
export type { Turn } from './runtime/session/turn.ts';
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
