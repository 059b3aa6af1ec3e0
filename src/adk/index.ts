export {
  content,
  getFunctionCalls,
  getFunctionResponses,
  isFinalResponse,
  contentText,
  type Content,
  type EventActions,
} from '../core/index.ts';
export { SessionNotFoundError } from '../store/internal.ts';
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
export {
  getPendingUserInputRequests,
  type UserInputRequest,
} from './contracts/user-input-request.ts';
export { LiveSessionBusyError } from './live/active-live-sessions.ts';
export {
  deleteLiveRecordings,
  type DeleteLiveRecordingsOptions,
} from './live/delete-live-recordings.ts';
export {
  LiveRequestQueue,
  type LiveRequest,
  type LiveRequestQueueOptions,
} from './live/live-request-queue.ts';
export { AgentTool } from './agents/agent-tool.ts';
export { AgentBuilder } from './builder/agent-builder.ts';
export { type BuiltAgent, type SessionOptions } from './builder/build-agent.ts';
export { App } from './app/app.ts';
export type { AppConfig, AppSettings, ResumabilityConfig } from './app/app-config.ts';
export {
  BaseAgent,
  type AgentYield,
  type BaseAgentConfig,
  type CustomAgentContext,
} from './agents/base-agent.ts';
export type { LlmAgentSettings } from './plugins/base-plugin.ts';
export { BaseEventsSummarizer } from './compaction/base-events-summarizer.ts';
export { BasePlugin } from './plugins/base-plugin.ts';
export {
  AuthenticatedFunctionTool,
  CredentialMissingError,
  type AuthenticatedToolDefinition,
} from './tools/authenticated-function-tool.ts';
export { BasePlanner } from './agents/base-planner.ts';
export { BaseToolset, type ToolFilter, type ToolUnion } from './tools/base-toolset.ts';
export {
  AgentEngineSandboxCodeExecutor,
  CloudToolError,
  VertexAiSearchTool,
  VertexRagRetrievalTool,
} from './tools/cloud-tools.ts';
export { BaseExampleProvider, ExampleTool, type Example } from './tools/example-tool.ts';
export { EXIT_LOOP, ExitLoopTool } from './tools/exit-loop-tool.ts';
export { LOAD_ARTIFACTS, LoadArtifactsTool } from './tools/load-artifacts-tool.ts';
export {
  LOAD_MEMORY,
  LoadMemoryTool,
  PRELOAD_MEMORY,
  PreloadMemoryTool,
} from './tools/memory-tools.ts';
export {
  BuiltInCodeExecutor,
  ENTERPRISE_WEB_SEARCH,
  EnterpriseWebSearchTool,
  GOOGLE_MAPS_GROUNDING,
  GOOGLE_SEARCH,
  GoogleMapsGroundingTool,
  GoogleSearchTool,
  URL_CONTEXT,
  UrlContextTool,
} from './tools/provider-tools.ts';
export { OpenAPIToolset, type OpenAPIToolsetOptions } from './tools/openapi-toolset.ts';
export { getUserChoiceTool } from './tools/user-input-tools.ts';
export { BaseTool, FunctionTool, LongRunningFunctionTool } from './tools/base-tool.ts';
export type { FunctionToolDefinition } from './tools/function-tool-definition.ts';
export { BuiltInPlanner, type BuiltInPlannerOptions } from './agents/built-in-planner.ts';
export type {
  AfterModelCallback,
  AfterToolCallback,
  AgentCallback,
  AgentCallbacks,
  BeforeModelCallback,
  BeforeToolCallback,
  ToolInfo,
  LlmRequest,
  LlmResponse,
  OneOrMany,
  OnModelErrorCallback,
  OnToolErrorCallback,
} from './contracts/agent-callbacks.ts';
export type {
  CompileContext,
  CompilableTool,
  ManagedToolset,
  RequestTool,
  ToolRequestParams,
} from './tools/compile-context.ts';
export type {
  CallbackContext,
  InvocationContext,
  ReadonlyContext,
  ToolCallbackContext,
} from './contracts/contexts.ts';
export {
  InMemoryCredentialService,
  StoredCredentialService,
  type CredentialOwner,
  type CredentialService,
} from './tools/credential-service.ts';
export {
  ContextFilterPlugin,
  type ContextFilterPluginOptions,
} from './plugins/context-filter-plugin.ts';
export {
  DatabaseSessionService,
  type DatabaseSessionOptions,
} from './sessions/database-session-service.ts';
export { Event, stringifyContent, type EventShorthand } from './agents/event.ts';
export type { FunctionToolContext } from './tools/function-tool-context.ts';
export { GlobalInstructionPlugin } from './plugins/global-instruction-plugin.ts';
export type { EventsCompactionConfig } from './compaction/events-compaction-config.ts';
export { InMemoryRunner } from './runner/in-memory-runner.ts';
export {
  InMemorySessionService,
  type InMemorySessionOptions,
} from './sessions/in-memory-session-service.ts';
export { LlmAgent, type LlmAgentConfig } from './agents/llm-agent.ts';
export type { InstructionProvider } from './contracts/instruction-provider.ts';
export { LoggingPlugin, type LoggingPluginOptions } from './plugins/logging-plugin.ts';
export {
  LlmEventsSummarizer,
  type LlmEventsSummarizerOptions,
} from './compaction/llm-events-summarizer.ts';
export { LoopAgent, type LoopAgentConfig } from './agents/loop-agent.ts';
export { OpenTelemetryPlugin } from './plugins/open-telemetry-plugin.ts';
export {
  ModelFallbackPlugin,
  type ModelFallbackPluginOptions,
} from './plugins/model-fallback-plugin.ts';
export { node, type NodeLike } from './workflow/node.ts';
export { ParallelAgent } from './agents/parallel-agent.ts';
export { PlanReActPlanner } from './agents/plan-re-act-planner.ts';
export {
  ReflectAndRetryToolPlugin,
  type ReflectAndRetryToolPluginOptions,
} from './plugins/reflect-and-retry-tool-plugin.ts';
export { StreamingMode } from './contracts/run-config.ts';
export type { CheckedRunConfig, RunConfig } from './contracts/run-config.ts';
export type { GeminiSchema } from './tools/gemini-schema.ts';
export { LlmCallsLimitExceededError, RunnerClosedError } from './runner/runner-errors.ts';
export { PluginError } from './plugins/plugin-error.ts';
export {
  preloadMemory,
  PreloadMemoryPlugin,
  type PreloadMemoryOptions,
  type PreloadMemoryPluginOptions,
} from './plugins/preload-memory-plugin.ts';
export type { RunnerOptions } from './runner/runner-options.ts';
export type { RunLiveParams } from './runner/run-live-params.ts';
export type { RunParams } from './runner/run-params.ts';
export type { RunDebugOptions } from './runner/run-debug-options.ts';
export { Runner } from './runner/runner.ts';
export {
  SaveFilesAsArtifactsPlugin,
  type SaveFilesAsArtifactsPluginOptions,
} from './plugins/save-files-as-artifacts-plugin.ts';
export type { RetryConfig } from './workflow/retry-config.ts';
export { SequentialAgent } from './agents/sequential-agent.ts';
export { SessionExistsError, StaleSessionError } from './sessions/session-errors.ts';
export type { GetSessionConfig, Session } from './sessions/session.ts';
export type {
  CreateSessionRequest,
  SessionAddress,
  SessionService,
} from './sessions/session-service.ts';
export {
  SqliteSessionService,
  type SqliteSessionOptions,
} from './sessions/sqlite-session-service.ts';
export { ToolFilterPlugin, type ToolFilterPluginOptions } from './plugins/tool-filter-plugin.ts';
export { RequestInput, type NodeContext, DEFAULT_ROUTE, START } from '../agents/index.ts';
export type { ChainElement, Edge, EdgeItem, RoutingMap } from './workflow/parsed-edges.ts';
export { StateSchemaError } from './workflow/state-schema.ts';
export {
  BaseNode,
  FunctionNode,
  JoinNode,
  type NodeHandler,
  type NodeOptions,
  type JoinNodeOptions,
} from './workflow/workflow-node.ts';
export { NodeSchemaError } from './workflow/node-schema.ts';
export { Workflow, type WorkflowConfig } from './workflow/workflow.ts';
export {
  NoAnswerError,
  type AgentAnswer,
  type AskInput,
  type EnhancedRunner,
} from './builder/enhanced-runner.ts';
export { OutputSchemaError } from './agents/output-parser.ts';
export type { LangGraphNode } from './workflow/lang-graph.ts';
