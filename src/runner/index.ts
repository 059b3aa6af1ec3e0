export {
  content,
  functionCallsOf as getFunctionCalls,
  functionResponsesOf as getFunctionResponses,
  isFinalResponse,
  textOf,
  type Content,
  type EventActions,
} from '../core/index.ts';
export { SessionNotFoundError } from '../store/store-errors.ts';
export {
  FileArtifactService,
  InMemoryArtifactService,
  InMemoryMemoryService,
  listArtifactsTool,
  loadArtifactsTool,
  loadMemoryTool,
  saveArtifactTool,
  SqliteMemoryService,
  VectorMemoryService,
  type ArtifactService,
  type MemoryService,
  type ToolContext,
} from '../tools/index.ts';
export { AgentTool } from './agent-tool.ts';
export { AgentBuilder, type BuiltAgent, type SessionOptions } from './agent-builder.ts';
export { App, type AppConfig, type ResumabilityConfig } from './app.ts';
export { BaseAgent, type AgentYield, type BaseAgentConfig } from './base-agent.ts';
export type { AgentShape } from './agent-shape.ts';
export { BaseEventsSummarizer } from './base-events-summarizer.ts';
export { BasePlugin } from './base-plugin.ts';
export {
  AuthenticatedFunctionTool,
  CredentialMissingError,
  type AuthenticatedToolDefinition,
} from './authenticated-function-tool.ts';
export { BasePlanner } from './base-planner.ts';
export { BaseToolset, type ToolFilter, type ToolUnion } from './base-toolset.ts';
export {
  BaseTool,
  FunctionTool,
  LongRunningFunctionTool,
  type FunctionToolDefinition,
} from './base-tool.ts';
export { BuiltInPlanner } from './built-in-planner.ts';
export type {
  AfterModelCallback,
  AfterToolCallback,
  AgentCallback,
  AgentCallbacks,
  BeforeModelCallback,
  BeforeToolCallback,
  CalledTool,
  LlmRequest,
  LlmResponse,
  OneOrMany,
  OnModelErrorCallback,
  OnToolErrorCallback,
} from './agent-callbacks.ts';
export type { Compilation, CompiledTool, OpenedByRunner } from './compilation.ts';
export type {
  CallbackContext,
  InvocationContext,
  ReadonlyContext,
  ToolCallbackContext,
} from './contexts.ts';
export {
  InMemoryCredentialService,
  StoredCredentialService,
  type CredentialOwner,
  type CredentialService,
} from './credential-service.ts';
export { ContextFilterPlugin, type ContextFilterPluginOptions } from './context-filter-plugin.ts';
export { DatabaseSessionService, type DatabaseSessionOptions } from './database-session-service.ts';
export { Event, type EventShorthand } from './event.ts';
export type { FunctionToolContext } from './function-tool-context.ts';
export { GlobalInstructionPlugin } from './global-instruction-plugin.ts';
export type { EventsCompactionConfig } from './events-compaction-config.ts';
export { InMemoryRunner } from './in-memory-runner.ts';
export { InMemorySessionService } from './in-memory-session-service.ts';
export { LlmAgent, type LlmAgentConfig } from './llm-agent.ts';
export type { InstructionProvider } from './instruction-provider.ts';
export { LoggingPlugin, type LoggingPluginOptions } from './logging-plugin.ts';
export { LlmEventsSummarizer, type LlmEventsSummarizerOptions } from './llm-events-summarizer.ts';
export { LoopAgent, type LoopAgentConfig } from './loop-agent.ts';
export { OpenTelemetryPlugin } from './open-telemetry-plugin.ts';
export { ModelFallbackPlugin, type ModelFallbackPluginOptions } from './model-fallback-plugin.ts';
export { node, type NodeLike } from './node.ts';
export { ParallelAgent } from './parallel-agent.ts';
export { PlanReActPlanner } from './plan-re-act-planner.ts';
export {
  ReflectAndRetryToolPlugin,
  type ReflectAndRetryToolPluginOptions,
} from './reflect-and-retry-tool-plugin.ts';
export type { CheckedRunConfig, RunConfig, StreamingMode } from './run-config.ts';
export { LlmCallsLimitExceededError, PluginError, RunnerClosedError } from './runner-errors.ts';
export { preloadMemory, PreloadMemoryPlugin, type PreloadMemoryOptions } from './preload-memory.ts';
export type { RunnerOptions } from './runner-options.ts';
export type { RunParams } from './run-params.ts';
export { Runner, type RunDebugOptions } from './runner.ts';
export {
  SaveFilesAsArtifactsPlugin,
  type SaveFilesAsArtifactsPluginOptions,
} from './save-files-as-artifacts-plugin.ts';
export type { RetryConfig } from './retry-config.ts';
export { SequentialAgent } from './sequential-agent.ts';
export { SessionExistsError, StaleSessionError } from './session-errors.ts';
export type { GetSessionConfig, Session } from './session.ts';
export type { CreateSessionRequest, SessionAddress, SessionService } from './session-service.ts';
export { SqliteSessionService } from './sqlite-session-service.ts';
export { ToolFilterPlugin, type ToolFilterPluginOptions } from './tool-filter-plugin.ts';
export { RequestInput } from '../agents/node-event.ts';
export type { NodeContext } from '../agents/node-context.ts';
export { DEFAULT_ROUTE, START } from '../agents/workflow-definition.ts';
export type { ChainElement, Edge, EdgeItem, RoutingMap } from './edge-items.ts';
export { StateSchemaError } from './state-schema.ts';
export {
  BaseNode,
  FunctionNode,
  JoinNode,
  NodeSchemaError,
  type NodeHandler,
  type NodeOptions,
} from './workflow-node.ts';
export { Workflow, type WorkflowConfig } from './workflow.ts';
export {
  NoAnswerError,
  type AgentAnswer,
  type AskedMessage,
  type BuiltRunner,
} from './built-runner.ts';
export { OutputSchemaError } from './value-parser.ts';
export type { LangGraphNode } from './lang-graph.ts';
