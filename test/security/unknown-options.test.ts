import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AGENT_TOOL_OPTIONS, agentTool } from '../../src/agents/tools/agent-tool.ts';
import { remoteAgent, REMOTE_AGENT_OPTIONS } from '../../src/agents/remote/remote-agent.ts';
import { custom, CUSTOM_OPTIONS } from '../../src/agents/custom/custom.ts';
import { fromPnml, FROM_PNML_OPTIONS } from '../../src/interop/pnml/from-pnml.ts';
import { agent, AGENT_OPTIONS } from '../../src/agents/llm/define-agent.ts';
import { loop, LOOP_OPTIONS } from '../../src/agents/kinds/loop.ts';
import { parallel, PARALLEL_OPTIONS } from '../../src/agents/kinds/parallel.ts';
import { sequential, SEQUENTIAL_OPTIONS } from '../../src/agents/kinds/sequential.ts';
import { workflow, WORKFLOW_OPTIONS } from '../../src/agents/workflow/workflow.ts';
import { CONSOLE_OPTIONS, consoleHandler } from '../../src/server/console/serve-console.ts';
import { CLIENT_OPTIONS, createClient } from '../../src/client/create-client.ts';
import { FOLLOW_OPTIONS } from '../../src/client/follow-events.ts';
import { FOLLOW_RECORDS_OPTIONS } from '../../src/client/follow-records.ts';
import { isPetrichorError, UnknownFieldError } from '../../src/core/index.ts';
import type { OptionTable } from '../../src/core/index.ts';
import {
  AGENT_REFERENCE,
  SESSION_OWNER,
  DELETE_SESSION_OPTIONS,
  START_OPTIONS,
} from '../../src/managed/interface/managed-runtime.ts';
import { DEFINITION_OPTIONS } from '../../src/managed/compilation/definition-options.ts';
import { definitions } from '../../src/managed/index.ts';
import { manageRuntime, MANAGE_OPTIONS } from '../../src/managed/manage-runtime.ts';
import { openManagedRuntime } from '../../src/managed/open-managed-runtime.ts';
import { MANAGED_RUNTIME_OPTIONS } from '../../src/managed/managed-runtime-options.ts';
import { aiSdkModel, AI_SDK_MODEL_OPTIONS } from '../../src/models/ai-sdk-model.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { MODEL_REFERENCE, parseModelRef } from '../../src/models/reference/model-ref.ts';
import { liveAgent, LIVE_AGENT_OPTIONS } from '../../src/live/agent/live-agent.ts';
import { CALL_OPTIONS, LiveHub, LIVE_HUB_OPTIONS } from '../../src/live/hub/live-hub.ts';
import {
  AI_SDK_SPEECH_OPTIONS,
  aiSdkSynthesizer,
} from '../../src/live/models/cascaded/ai-sdk-speech.ts';
import {
  CASCADED_LIVE_OPTIONS,
  cascadedLive,
} from '../../src/live/models/cascaded/cascaded-live.ts';
import { geminiLive, GEMINI_LIVE_OPTIONS } from '../../src/live/models/gemini/gemini-live.ts';
import { LIVE_CONFIG } from '../../src/live/models/live-config.ts';
import {
  openaiRealtime,
  OPENAI_REALTIME_OPTIONS,
} from '../../src/live/models/openai/openai-realtime.ts';
import { ScriptedLive } from '../../src/live/models/scripted/scripted-live.ts';
import { resolveModel, RESOLVE_MODEL_OPTIONS } from '../../src/models/resolve-model.ts';
import {
  LIVE_REQUEST_QUEUE_OPTIONS,
  LiveRequestQueue,
} from '../../src/adk/live/live-request-queue.ts';
import { FunctionTool } from '../../src/adk/index.ts';
import { FUNCTION_TOOL_OPTIONS } from '../../src/adk/tools/function-tool-definition.ts';
import { App, APP_OPTIONS } from '../../src/adk/app/app.ts';
import { DatabaseSessionService } from '../../src/adk/index.ts';
import { DATABASE_SESSION_OPTIONS } from '../../src/adk/sessions/database-session-service.ts';
import { InMemoryRunner } from '../../src/adk/runner/in-memory-runner.ts';
import { LlmAgent, LLM_AGENT_OPTIONS } from '../../src/adk/agents/llm-agent.ts';
import { LoopAgent, LOOP_AGENT_OPTIONS } from '../../src/adk/agents/loop-agent.ts';
import { ParallelAgent, PARALLEL_AGENT_OPTIONS } from '../../src/adk/agents/parallel-agent.ts';
import { RUN_CONFIG_OPTIONS } from '../../src/adk/contracts/run-config.ts';
import { RUN_LIVE_PARAMS_OPTIONS } from '../../src/adk/runner/run-live-params.ts';
import { RUN_PARAMS_OPTIONS } from '../../src/adk/runner/run-params.ts';
import { RUN_DEBUG_OPTIONS } from '../../src/adk/runner/run-debug-options.ts';
import { Runner } from '../../src/adk/runner/runner.ts';
import { VERTEX_AI_MEMORY_BANK_OPTIONS } from '../../src/adk/vertex-ai/vertex-ai-memory-bank-service.ts';
import { VERTEX_AI_SESSION_OPTIONS } from '../../src/adk/vertex-ai/vertex-ai-session-service.ts';
import {
  VertexAiMemoryBankService,
  VertexAiSessionService,
} from '../../src/adk/vertex-ai/index.ts';
import { RUNNER_OPTIONS } from '../../src/adk/runner/runner-options.ts';
import {
  SequentialAgent,
  SEQUENTIAL_AGENT_OPTIONS,
} from '../../src/adk/agents/sequential-agent.ts';
import { Workflow, WORKFLOW_CONFIG_OPTIONS } from '../../src/adk/workflow/workflow.ts';
import { MARKING_OPTIONS, RECORDS_OPTIONS } from '../../src/runtime/inspection/inspected-record.ts';
import { NET_OPTIONS } from '../../src/runtime/inspection/net-description.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import { RUNTIME_OPTIONS } from '../../src/runtime/runtime-options.ts';
import {
  DEFINE_OUTCOME_OPTIONS,
  OUTCOME_DEFINITION,
} from '../../src/runtime/session/define-outcome.ts';
import { APPEND_OPTIONS, EVENT_TO_APPEND } from '../../src/runtime/session/append-event.ts';
import {
  ANSWER_OPTIONS,
  APPROVE_OPTIONS,
  ASK_OPTIONS,
  DENY_OPTIONS,
  EVENTS_OPTIONS,
  FORK_OPTIONS,
  INTERRUPT_OPTIONS,
  SEND_OPTIONS,
  SESSION_OPTIONS,
} from '../../src/runtime/session/session.ts';
import { PENDING_OPTIONS } from '../../src/runtime/listing/pending-call-listing.ts';
import { SESSION_CHANGES_OPTIONS } from '../../src/runtime/listing/session-changes.ts';
import { WATCH_PENDING_OPTIONS } from '../../src/runtime/listing/watch-pending-calls.ts';
import { BACKUP_OPTIONS, writeBackup } from '../../src/runtime/copies/backup.ts';
import { JOURNAL_TRIM_OPTIONS, trimJournal } from '../../src/runtime/journal/trim-journal.ts';
import { applyRetention, RETENTION_OPTIONS } from '../../src/runtime/retention/apply-retention.ts';
import { measureSessions, SIZE_OPTIONS } from '../../src/runtime/copies/session-sizes.ts';
import { ORPHAN_OPTIONS, removeOrphans } from '../../src/runtime/retention/remove-orphans.ts';
import { SCHEDULE_OPTIONS } from '../../src/runtime/schedules/schedule-definition.ts';
import {
  SCHEDULE_HISTORY_OPTIONS,
  SCHEDULE_LIST_OPTIONS,
  SCHEDULE_RUN_OPTIONS,
  SCHEDULE_USER,
} from '../../src/runtime/schedules/schedules.ts';
import { IMPORT_SESSION_OPTIONS, importSession } from '../../src/runtime/copies/import-session.ts';
import {
  DRAIN_OPTIONS,
  QUOTA_OPTIONS,
  SESSION_LIST_OPTIONS,
  USAGE_OPTIONS,
} from '../../src/runtime/runtime.ts';
import { createServer } from '../../src/server/create-server.ts';
import { SERVER_OPTIONS } from '../../src/server/server-options.ts';
import { listen, LISTEN_OPTIONS } from '../../src/server/listen.ts';
import { SERVE_MCP_OPTIONS, serveMcpStdio } from '../../src/server/serve-mcp-stdio.ts';
import { openStore, STORE_OPTIONS } from '../../src/store/open/open-store.ts';
import { bashTool } from '../../src/tools/built-in/commands/bash-tool.ts';
import { COMMAND_OPTIONS } from '../../src/tools/built-in/commands/command-options.ts';
import { webFetchTool, WEB_FETCH_OPTIONS } from '../../src/tools/built-in/web/web-fetch-tool.ts';
import { webSearchTool, WEB_SEARCH_OPTIONS } from '../../src/tools/built-in/web/web-search-tool.ts';
import { MCP_TOOLSET_OPTIONS } from '../../src/tools/mcp/vocabulary/mcp-options.ts';
import { openMcpToolset } from '../../src/tools/mcp/open-mcp-toolset.ts';
import { OpenAPIToolset, OPENAPI_TOOLSET_OPTIONS } from '../../src/adk/tools/openapi-toolset.ts';
import {
  AI_SDK_TOOLS_OPTIONS,
  aiSdkTools,
  DURABILITY_OPTIONS,
} from '../../src/tools/tool/ai-sdk-tools.ts';
import { AI_SDK_EMBED_OPTIONS, aiSdkEmbed } from '../../src/models/ai-sdk-embed.ts';
import { RETRIEVAL_TOOL_OPTIONS, retrievalTool } from '../../src/tools/retrieval/retrieval-tool.ts';
import { PROVIDER_TOOL_OPTIONS, providerTool } from '../../src/tools/tool/provider-tool.ts';
import { tool, TOOL_OPTIONS } from '../../src/tools/tool/tool.ts';
import { PENDING_CALL_OPTIONS, pending } from '../../src/tools/tool/pending.ts';
import {
  FILE_ARTIFACT_OPTIONS,
  FileArtifactService,
} from '../../src/tools/artifacts/file-artifact-service.ts';
import {
  IN_MEMORY_ARTIFACT_OPTIONS,
  InMemoryArtifactService,
} from '../../src/tools/artifacts/in-memory-artifact-service.ts';
import {
  S3_ARTIFACT_OPTIONS,
  S3ArtifactService,
} from '../../src/tools/artifacts/s3/s3-artifact-service.ts';
import {
  S3_OBJECT_STORE_OPTIONS,
  S3ObjectStore,
} from '../../src/tools/artifacts/s3/s3-object-store.ts';
import {
  GCS_ARTIFACT_OPTIONS,
  GcsArtifactService,
} from '../../src/tools/artifacts/gcs/gcs-artifact-service.ts';
import {
  VECTOR_MEMORY_OPTIONS,
  VectorMemoryService,
} from '../../src/tools/memory/vector-memory-service.ts';
import {
  VECTOR_RETRIEVER_OPTIONS,
  VectorRetriever,
} from '../../src/tools/retrieval/vector-retriever.ts';
import {
  LOAD_MEMORY_OPTIONS,
  loadMemoryTool,
} from '../../src/tools/session-tools/load-memory-tool.ts';
import { BRAVE_SEARCH_OPTIONS, braveSearch } from '../../src/tools/built-in/web/brave-search.ts';
import { BUBBLEWRAP_OPTIONS, bubblewrap } from '../../src/tools/sandbox/bubblewrap.ts';
import {
  ENVIRONMENT_RULES,
  Environments,
} from '../../src/tools/built-in/workspace/environments.ts';
import {
  BUILT_IN_SOURCE_OPTIONS,
  builtInSource,
} from '../../src/tools/built-in/built-in-source.ts';
import { BUILT_IN_SERVICES, builtInTools } from '../../src/tools/built-in/built-in-tools.ts';
import { MCP_SOURCE_OPTIONS, mcpSource } from '../../src/tools/mcp/mcp-source.ts';
import {
  YIELDED_EVENT,
  NodeEvent,
  REQUEST_INPUT_OPTIONS,
  RequestInput,
} from '../../src/agents/generator/yields.ts';
import { TELEMETRY_OPTIONS, openTelemetry } from '../../src/telemetry/open-telemetry.ts';
import {
  SESSION_ARCHIVE_OPTIONS,
  SessionArchive,
} from '../../src/runtime/copies/session-archive.ts';
import {
  CONTEXT_FILTER_PLUGIN_OPTIONS,
  ContextFilterPlugin,
} from '../../src/adk/plugins/context-filter-plugin.ts';
import { LOGGING_PLUGIN_OPTIONS, LoggingPlugin } from '../../src/adk/plugins/logging-plugin.ts';
import {
  PRELOAD_MEMORY_PLUGIN_OPTIONS,
  PreloadMemoryPlugin,
  PRELOAD_MEMORY_OPTIONS,
  preloadMemory,
} from '../../src/adk/plugins/preload-memory-plugin.ts';
import {
  REFLECT_AND_RETRY_OPTIONS,
  ReflectAndRetryToolPlugin,
} from '../../src/adk/plugins/reflect-and-retry-tool-plugin.ts';
import {
  SAVE_FILES_OPTIONS,
  SaveFilesAsArtifactsPlugin,
} from '../../src/adk/plugins/save-files-as-artifacts-plugin.ts';
import { TOOL_FILTER_OPTIONS, ToolFilterPlugin } from '../../src/adk/plugins/tool-filter-plugin.ts';
import {
  LLM_EVENTS_SUMMARIZER_OPTIONS,
  LlmEventsSummarizer,
} from '../../src/adk/compaction/llm-events-summarizer.ts';
import { BUILT_IN_PLANNER_OPTIONS, BuiltInPlanner } from '../../src/adk/agents/built-in-planner.ts';
import {
  IN_MEMORY_SESSION_OPTIONS,
  InMemorySessionService,
} from '../../src/adk/sessions/in-memory-session-service.ts';
import {
  SQLITE_SESSION_OPTIONS,
  SqliteSessionService,
} from '../../src/adk/sessions/sqlite-session-service.ts';
import { node } from '../../src/adk/workflow/node.ts';
import { JOIN_NODE_OPTIONS, JoinNode, NODE_OPTIONS } from '../../src/adk/workflow/workflow-node.ts';
import {
  MODEL_FALLBACK_OPTIONS,
  ModelFallbackPlugin,
} from '../../src/adk/plugins/model-fallback-plugin.ts';
import { FileObjectStore } from '../../src/tools/artifacts/file-object-store.ts';

// Calls without types, as JavaScript does, so that the compiler does not reject wrong names.
type Call = (options: never) => unknown;

interface Subject {
  readonly table: OptionTable;
  readonly call: Call;
}

const model = new ScriptedModel([]);
const helper = (name: string): ReturnType<typeof agent> => agent({ name, model });
const adk = (name: string): LlmAgent => new LlmAgent({ name, model });
const openSession = async (): ReturnType<Awaited<ReturnType<typeof openRuntime>>['session']> =>
  (await openRuntime({ agents: [helper('a')], store: 'memory:' })).session('s1');
const plain = openRuntime({ agents: [helper('a')], store: 'memory:' });
const runner = new InMemoryRunner({ agent: adk('a') });
const managed = openManagedRuntime({ resolver: async () => model });

/** Each option table by its name in the source, with the function that uses it. */
const subjects: Readonly<Record<string, Subject>> = {
  AGENT_OPTIONS: { table: AGENT_OPTIONS, call: agent },
  AGENT_TOOL_OPTIONS: {
    table: AGENT_TOOL_OPTIONS,
    call: (options) => agentTool(helper('a'), options),
  },
  SEQUENTIAL_OPTIONS: { table: SEQUENTIAL_OPTIONS, call: sequential },
  PARALLEL_OPTIONS: { table: PARALLEL_OPTIONS, call: parallel },
  LOOP_OPTIONS: { table: LOOP_OPTIONS, call: loop },
  CUSTOM_OPTIONS: { table: CUSTOM_OPTIONS, call: custom },
  WORKFLOW_OPTIONS: { table: WORKFLOW_OPTIONS, call: workflow },
  TOOL_OPTIONS: { table: TOOL_OPTIONS, call: tool },
  FUNCTION_TOOL_OPTIONS: {
    table: FUNCTION_TOOL_OPTIONS,
    call: (options) => Reflect.construct(FunctionTool, [options]),
  },
  RETRIEVAL_TOOL_OPTIONS: { table: RETRIEVAL_TOOL_OPTIONS, call: retrievalTool },
  AI_SDK_EMBED_OPTIONS: {
    table: AI_SDK_EMBED_OPTIONS,
    call: (options) => {
      const doEmbed = async (): Promise<never> => assert.fail();
      return aiSdkEmbed({ provider: 'p', modelId: 'm', maxEmbeddingsPerCall: 1, doEmbed }, options);
    },
  },
  PROVIDER_TOOL_OPTIONS: { table: PROVIDER_TOOL_OPTIONS, call: providerTool },
  AI_SDK_TOOLS_OPTIONS: {
    table: AI_SDK_TOOLS_OPTIONS,
    call: (options) => aiSdkTools({}, options),
  },
  DURABILITY_OPTIONS: {
    table: DURABILITY_OPTIONS,
    call: (options) => aiSdkTools({ a: {} }, { durability: { a: options } }),
  },
  OPENAPI_TOOLSET_OPTIONS: {
    table: OPENAPI_TOOLSET_OPTIONS,
    call: (options) => new OpenAPIToolset(options),
  },
  RUNTIME_OPTIONS: { table: RUNTIME_OPTIONS, call: openRuntime },
  SESSION_OPTIONS: {
    table: SESSION_OPTIONS,
    call: async (options) =>
      (await openRuntime({ agents: [helper('a')], store: 'memory:' })).session('s1', options),
  },
  SEND_OPTIONS: {
    table: SEND_OPTIONS,
    call: async (options) => (await openSession()).send('Hi', options),
  },
  ASK_OPTIONS: {
    table: ASK_OPTIONS,
    call: async (options) => (await openSession()).ask('Hi', options),
  },
  APPROVE_OPTIONS: {
    table: APPROVE_OPTIONS,
    call: async (options) => (await openSession()).approve('c1', options),
  },
  DENY_OPTIONS: {
    table: DENY_OPTIONS,
    call: async (options) => (await openSession()).deny('c1', options),
  },
  ANSWER_OPTIONS: {
    table: ANSWER_OPTIONS,
    call: async (options) => (await openSession()).answer('c1', 1, options),
  },
  APPEND_OPTIONS: {
    table: APPEND_OPTIONS,
    call: async (options) => (await openSession()).append({ author: 'crm', content: 'x' }, options),
  },
  EVENT_TO_APPEND: {
    table: EVENT_TO_APPEND,
    call: async (options) => (await openSession()).append(options),
  },
  DEFINE_OUTCOME_OPTIONS: {
    table: DEFINE_OUTCOME_OPTIONS,
    call: async (options) => (await openSession()).defineOutcome({ criteria: 'Short.' }, options),
  },
  OUTCOME_DEFINITION: {
    table: OUTCOME_DEFINITION,
    call: async (options) => (await openSession()).defineOutcome(options),
  },
  FORK_OPTIONS: {
    table: FORK_OPTIONS,
    call: async (options) => (await openSession()).fork(options),
  },
  INTERRUPT_OPTIONS: {
    table: INTERRUPT_OPTIONS,
    call: async (options) => (await openSession()).interrupt(options),
  },
  RECORDS_OPTIONS: {
    table: RECORDS_OPTIONS,
    call: async (options) => (await openSession()).records(0, options),
  },
  MARKING_OPTIONS: {
    table: MARKING_OPTIONS,
    call: async (options) => (await openSession()).markingAt(0, options),
  },
  NET_OPTIONS: {
    table: NET_OPTIONS,
    call: async (options) => (await openSession()).net(options),
  },
  PENDING_OPTIONS: {
    table: PENDING_OPTIONS,
    call: async (options) => (await plain).pending(options),
  },
  BACKUP_OPTIONS: {
    table: BACKUP_OPTIONS,
    call: async (options) => writeBackup((await plain).store, 'unused.jsonl', options),
  },
  IMPORT_SESSION_OPTIONS: {
    table: IMPORT_SESSION_OPTIONS,
    call: async (options) => importSession('unused.jsonl', (await plain).store, options),
  },
  RETENTION_OPTIONS: {
    table: RETENTION_OPTIONS,
    call: async (options) => {
      const policy = { rules: [{ deleteAfterDays: 1 }] };
      for await (const _ of applyRetention((await plain).store, policy, options));
    },
  },
  JOURNAL_TRIM_OPTIONS: {
    table: JOURNAL_TRIM_OPTIONS,
    call: async (options) =>
      trimJournal(
        (await plain).store,
        { appName: 'petrichor', userId: 'u', sessionId: 's' },
        options,
      ),
  },
  ORPHAN_OPTIONS: {
    table: ORPHAN_OPTIONS,
    call: async (options) => removeOrphans((await plain).store, options),
  },
  SIZE_OPTIONS: {
    table: SIZE_OPTIONS,
    call: async (options) => measureSessions((await plain).store, options),
  },
  DRAIN_OPTIONS: {
    table: DRAIN_OPTIONS,
    call: async (options) => (await plain).drain(options),
  },
  WATCH_PENDING_OPTIONS: {
    table: WATCH_PENDING_OPTIONS,
    call: async (options) => (await plain).watchPending(options),
  },
  SESSION_CHANGES_OPTIONS: {
    table: SESSION_CHANGES_OPTIONS,
    call: async (options) => (await plain).changes(options),
  },
  SCHEDULE_OPTIONS: {
    table: SCHEDULE_OPTIONS,
    call: async (options) => (await plain).schedules.create(options),
  },
  SCHEDULE_USER: {
    table: SCHEDULE_USER,
    call: async (options) => (await plain).schedules.get('s', options),
  },
  SCHEDULE_LIST_OPTIONS: {
    table: SCHEDULE_LIST_OPTIONS,
    call: async (options) => (await plain).schedules.list(options),
  },
  SCHEDULE_RUN_OPTIONS: {
    table: SCHEDULE_RUN_OPTIONS,
    call: async (options) => (await plain).schedules.run('s', options),
  },
  SCHEDULE_HISTORY_OPTIONS: {
    table: SCHEDULE_HISTORY_OPTIONS,
    call: async (options) => (await plain).schedules.history('s', options),
  },
  SESSION_LIST_OPTIONS: {
    table: SESSION_LIST_OPTIONS,
    call: async (options) => (await plain).sessions(options),
  },
  USAGE_OPTIONS: {
    table: USAGE_OPTIONS,
    call: async (options) => (await plain).usage(options),
  },
  QUOTA_OPTIONS: {
    table: QUOTA_OPTIONS,
    call: async (options) => (await plain).quotas(options),
  },
  COMMAND_OPTIONS: { table: COMMAND_OPTIONS, call: bashTool },
  WEB_FETCH_OPTIONS: { table: WEB_FETCH_OPTIONS, call: webFetchTool },
  WEB_SEARCH_OPTIONS: { table: WEB_SEARCH_OPTIONS, call: webSearchTool },
  EVENTS_OPTIONS: {
    table: EVENTS_OPTIONS,
    call: async (options) => (await openSession()).events(0, options),
  },
  SERVER_OPTIONS: { table: SERVER_OPTIONS, call: createServer },
  REMOTE_AGENT_OPTIONS: {
    table: REMOTE_AGENT_OPTIONS,
    call: (options) => remoteAgent('https://agents.example/card.json', options),
  },
  SERVE_MCP_OPTIONS: { table: SERVE_MCP_OPTIONS, call: serveMcpStdio },
  LISTEN_OPTIONS: { table: LISTEN_OPTIONS, call: async (options) => listen({} as never, options) },
  MANAGED_RUNTIME_OPTIONS: { table: MANAGED_RUNTIME_OPTIONS, call: openManagedRuntime },
  DEFINITION_OPTIONS: { table: DEFINITION_OPTIONS, call: definitions },
  MANAGE_OPTIONS: {
    table: MANAGE_OPTIONS,
    call: async (options) => manageRuntime((await managed).runtime, options),
  },
  DELETE_SESSION_OPTIONS: {
    table: DELETE_SESSION_OPTIONS,
    call: async (options) => (await managed).deleteSession({ id: 's', userId: 'u1' }, options),
  },
  START_OPTIONS: {
    table: START_OPTIONS,
    call: async (options) => (await managed).startSession('a', { userId: 'u1' }, options),
  },
  SESSION_OWNER: {
    table: SESSION_OWNER,
    call: async (owner) => (await managed).startSession('a', owner),
  },
  AGENT_REFERENCE: {
    table: AGENT_REFERENCE,
    call: async (ref) => (await managed).startSession(ref, { userId: 'u1' }),
  },
  MODEL_REFERENCE: { table: MODEL_REFERENCE, call: parseModelRef },
  CASCADED_LIVE_OPTIONS: { table: CASCADED_LIVE_OPTIONS, call: cascadedLive },
  AI_SDK_SPEECH_OPTIONS: {
    table: AI_SDK_SPEECH_OPTIONS,
    call: (options) => aiSdkSynthesizer({} as never, options),
  },
  GEMINI_LIVE_OPTIONS: { table: GEMINI_LIVE_OPTIONS, call: geminiLive },
  OPENAI_REALTIME_OPTIONS: { table: OPENAI_REALTIME_OPTIONS, call: openaiRealtime },
  LIVE_CONFIG: {
    table: LIVE_CONFIG,
    call: async (config) => new ScriptedLive({ turns: [] }).open({ config }, {} as never),
  },
  LIVE_AGENT_OPTIONS: {
    table: LIVE_AGENT_OPTIONS,
    call: (options) =>
      liveAgent({ name: 'a', model: new ScriptedLive({ turns: [] }), ...Object(options) }),
  },
  LIVE_HUB_OPTIONS: { table: LIVE_HUB_OPTIONS, call: (options) => new LiveHub(options) },
  CALL_OPTIONS: {
    table: CALL_OPTIONS,
    call: async (options) => new LiveHub().call({} as never, {} as never, options),
  },
  LIVE_REQUEST_QUEUE_OPTIONS: {
    table: LIVE_REQUEST_QUEUE_OPTIONS,
    call: (options) => new LiveRequestQueue(options),
  },
  RESOLVE_MODEL_OPTIONS: {
    table: RESOLVE_MODEL_OPTIONS,
    call: async (options) => resolveModel('gemini-2.5-flash', options),
  },
  AI_SDK_MODEL_OPTIONS: {
    table: AI_SDK_MODEL_OPTIONS,
    call: (options) => aiSdkModel({ modelId: 'm', provider: 'p' } as never, options),
  },
  APP_OPTIONS: { table: APP_OPTIONS, call: (options) => new App(options) },
  RUNNER_OPTIONS: { table: RUNNER_OPTIONS, call: (options) => new Runner(options) },
  RUN_PARAMS_OPTIONS: { table: RUN_PARAMS_OPTIONS, call: async (params) => runner.run(params) },
  RUN_LIVE_PARAMS_OPTIONS: {
    table: RUN_LIVE_PARAMS_OPTIONS,
    call: async (params) => runner.runLive(Object(params)).next(),
  },
  RUN_CONFIG_OPTIONS: {
    table: RUN_CONFIG_OPTIONS,
    call: async (runConfig) =>
      runner.run({ userId: 'u1', sessionId: 's1', newMessage: 'Hi', runConfig }),
  },
  RUN_DEBUG_OPTIONS: {
    table: RUN_DEBUG_OPTIONS,
    call: async (options) => runner.runDebug('Hi', options),
  },
  LLM_AGENT_OPTIONS: { table: LLM_AGENT_OPTIONS, call: (options) => new LlmAgent(options) },
  LOOP_AGENT_OPTIONS: { table: LOOP_AGENT_OPTIONS, call: (options) => new LoopAgent(options) },
  SEQUENTIAL_AGENT_OPTIONS: {
    table: SEQUENTIAL_AGENT_OPTIONS,
    call: (options) => new SequentialAgent(options),
  },
  PARALLEL_AGENT_OPTIONS: {
    table: PARALLEL_AGENT_OPTIONS,
    call: (options) => new ParallelAgent(options),
  },
  WORKFLOW_CONFIG_OPTIONS: {
    table: WORKFLOW_CONFIG_OPTIONS,
    call: (options) => new Workflow(options),
  },
  MCP_TOOLSET_OPTIONS: { table: MCP_TOOLSET_OPTIONS, call: openMcpToolset },
  STORE_OPTIONS: { table: STORE_OPTIONS, call: async (options) => openStore('memory:', options) },
  DATABASE_SESSION_OPTIONS: {
    table: DATABASE_SESSION_OPTIONS,
    call: (options) => new DatabaseSessionService('sqlite::memory:', options),
  },
  VERTEX_AI_SESSION_OPTIONS: {
    table: VERTEX_AI_SESSION_OPTIONS,
    call: (options) => new VertexAiSessionService(options),
  },
  VERTEX_AI_MEMORY_BANK_OPTIONS: {
    table: VERTEX_AI_MEMORY_BANK_OPTIONS,
    call: (options) => new VertexAiMemoryBankService(options),
  },
  CONSOLE_OPTIONS: { table: CONSOLE_OPTIONS, call: consoleHandler },
  CLIENT_OPTIONS: { table: CLIENT_OPTIONS, call: createClient },
  FOLLOW_OPTIONS: {
    table: FOLLOW_OPTIONS,
    call: (options: object) => createClient().sessions.events('s', options),
  },
  FOLLOW_RECORDS_OPTIONS: {
    table: FOLLOW_RECORDS_OPTIONS,
    call: (options: object) => createClient().sessions.followRecords('s', options),
  },
  FROM_PNML_OPTIONS: {
    table: FROM_PNML_OPTIONS,
    call: (options) => fromPnml('<pnml/>', options),
  },
  PENDING_CALL_OPTIONS: { table: PENDING_CALL_OPTIONS, call: pending },
  FILE_ARTIFACT_OPTIONS: {
    table: FILE_ARTIFACT_OPTIONS,
    call: (options) => new FileArtifactService(options),
  },
  IN_MEMORY_ARTIFACT_OPTIONS: {
    table: IN_MEMORY_ARTIFACT_OPTIONS,
    call: (options) => new InMemoryArtifactService(options),
  },
  S3_ARTIFACT_OPTIONS: {
    table: S3_ARTIFACT_OPTIONS,
    call: (options) => new S3ArtifactService(options),
  },
  S3_OBJECT_STORE_OPTIONS: {
    table: S3_OBJECT_STORE_OPTIONS,
    call: (options) => new S3ObjectStore(options),
  },
  GCS_ARTIFACT_OPTIONS: {
    table: GCS_ARTIFACT_OPTIONS,
    call: (options) => new GcsArtifactService(options),
  },
  VECTOR_MEMORY_OPTIONS: {
    table: VECTOR_MEMORY_OPTIONS,
    call: (options) => new VectorMemoryService(options),
  },
  VECTOR_RETRIEVER_OPTIONS: {
    table: VECTOR_RETRIEVER_OPTIONS,
    call: (options) => new VectorRetriever(options),
  },
  LOAD_MEMORY_OPTIONS: { table: LOAD_MEMORY_OPTIONS, call: loadMemoryTool },
  BRAVE_SEARCH_OPTIONS: { table: BRAVE_SEARCH_OPTIONS, call: braveSearch },
  BUBBLEWRAP_OPTIONS: { table: BUBBLEWRAP_OPTIONS, call: bubblewrap },
  ENVIRONMENT_RULES: { table: ENVIRONMENT_RULES, call: (options) => new Environments(options) },
  BUILT_IN_SOURCE_OPTIONS: { table: BUILT_IN_SOURCE_OPTIONS, call: builtInSource },
  BUILT_IN_SERVICES: {
    table: BUILT_IN_SERVICES,
    call: (options) => builtInTools(['web_fetch'], options),
  },
  MCP_SOURCE_OPTIONS: { table: MCP_SOURCE_OPTIONS, call: mcpSource },
  YIELDED_EVENT: { table: YIELDED_EVENT, call: (options) => new NodeEvent(options) },
  REQUEST_INPUT_OPTIONS: {
    table: REQUEST_INPUT_OPTIONS,
    call: (options) => new RequestInput(options),
  },
  TELEMETRY_OPTIONS: { table: TELEMETRY_OPTIONS, call: openTelemetry },
  SESSION_ARCHIVE_OPTIONS: {
    table: SESSION_ARCHIVE_OPTIONS,
    call: (options) => new SessionArchive(new FileObjectStore('none'), options),
  },
  CONTEXT_FILTER_PLUGIN_OPTIONS: {
    table: CONTEXT_FILTER_PLUGIN_OPTIONS,
    call: (options) => new ContextFilterPlugin(options),
  },
  LOGGING_PLUGIN_OPTIONS: {
    table: LOGGING_PLUGIN_OPTIONS,
    call: (options) => new LoggingPlugin(options),
  },
  PRELOAD_MEMORY_PLUGIN_OPTIONS: {
    table: PRELOAD_MEMORY_PLUGIN_OPTIONS,
    call: (options) => new PreloadMemoryPlugin(options),
  },
  PRELOAD_MEMORY_OPTIONS: { table: PRELOAD_MEMORY_OPTIONS, call: preloadMemory },
  REFLECT_AND_RETRY_OPTIONS: {
    table: REFLECT_AND_RETRY_OPTIONS,
    call: (options) => new ReflectAndRetryToolPlugin(options),
  },
  SAVE_FILES_OPTIONS: {
    table: SAVE_FILES_OPTIONS,
    call: (options) => new SaveFilesAsArtifactsPlugin(options),
  },
  MODEL_FALLBACK_OPTIONS: {
    table: MODEL_FALLBACK_OPTIONS,
    call: (options) => new ModelFallbackPlugin(options),
  },
  TOOL_FILTER_OPTIONS: {
    table: TOOL_FILTER_OPTIONS,
    call: (options) => new ToolFilterPlugin(options),
  },
  LLM_EVENTS_SUMMARIZER_OPTIONS: {
    table: LLM_EVENTS_SUMMARIZER_OPTIONS,
    call: (options) => new LlmEventsSummarizer(options),
  },
  BUILT_IN_PLANNER_OPTIONS: {
    table: BUILT_IN_PLANNER_OPTIONS,
    call: (options) => new BuiltInPlanner(options),
  },
  IN_MEMORY_SESSION_OPTIONS: {
    table: IN_MEMORY_SESSION_OPTIONS,
    call: (options) => new InMemorySessionService(options),
  },
  SQLITE_SESSION_OPTIONS: {
    table: SQLITE_SESSION_OPTIONS,
    call: (options) => new SqliteSessionService(':memory:', options),
  },
  NODE_OPTIONS: { table: NODE_OPTIONS, call: (options) => node(function step() {}, options) },
  JOIN_NODE_OPTIONS: { table: JOIN_NODE_OPTIONS, call: (options) => new JoinNode(options) },
};

for (const [name, { table, call }] of Object.entries(subjects)) {
  test(`${table.typeName} rejects an unknown option by name (${name})`, async () => {
    for (const { options, path, suggestion } of wrongOptions(table)) {
      const error = await getError(call, options);
      assert.ok(error instanceof UnknownFieldError, `${path}: ${String(error)}`);
      assert.equal(error.field, `${table.typeName}.${path}`);
      if (suggestion !== undefined) assert.equal(error.suggestion, suggestion, path);
    }
  });
}

/** Their call here puts the options into an object, or does not need them. */
const WITHIN_AN_OBJECT = ['LIVE_CONFIG', 'LIVE_AGENT_OPTIONS'];

for (const [name, { table, call }] of Object.entries(subjects)) {
  if (WITHIN_AN_OBJECT.includes(name)) continue;
  test(`${table.typeName} rejects options that are not an object (${name})`, async () => {
    for (const options of [null, 5, 'text', []]) {
      const error = await getError(call, options as never);
      assert.ok(isPetrichorError(error), `${JSON.stringify(options)}: ${String(error)}`);
    }
  });
}

test('this test covers every option table of the source', () => {
  const named = listSources('src').flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/export const (\w+): OptionTable\b/g)].map(
      ([, name]) => name,
    ),
  );
  assert.deepEqual(new Set(named), new Set(Object.keys(subjects)));
});

test('class instances, inherited properties and undefined properties are not unknown options', () => {
  class Settings {
    readonly name = 'a';
    readonly model = model;
    readonly note = 'mine';
  }
  assert.equal(agent(new Settings()).name, 'a');
  assert.equal(agent({ name: 'a', model, later: undefined } as never).name, 'a');
  const inherited = Object.assign(Object.create({ note: 'mine' }) as object, { name: 'a', model });
  assert.equal(agent(inherited as never).name, 'a');
  class CustomAgent extends LlmAgent {}
  assert.equal(new CustomAgent({ name: 'a', model, note: 'mine' } as never).name, 'a');
});

interface WrongOptions {
  readonly options: never;
  readonly path: string;
  readonly suggestion?: string;
}

/**
 * An unknown option, a misspelling of each known option, and each name that another library uses, at every depth of a
 * table.
 */
function wrongOptions({ names, otherNames }: OptionTable): readonly WrongOptions[] {
  return [
    ...listWrongOptions(names),
    ...Object.entries(otherNames)
      .filter(([, knownName]) => Object.hasOwn(names, knownName))
      .map(([path, suggestion]) => ({ options: { [path]: 1 } as never, path, suggestion })),
  ];
}

function listWrongOptions(names: OptionTable['names']): readonly WrongOptions[] {
  const known = Object.keys(names);
  const misspelled = known.map((suggestion) => {
    const path = misspell(suggestion, known);
    return { options: { [path]: 1 } as never, path, suggestion };
  });
  const inside = Object.entries(names).flatMap(([key, rule]) =>
    rule === true
      ? []
      : listWrongOptions(rule).map(({ options, path, ...more }) => ({
          options: { [key]: options } as never,
          path: `${key}.${path}`,
          ...more,
        })),
  );
  return [
    { options: { qqqqqqqqqqqq: 1 } as never, path: 'qqqqqqqqqqqq' },
    ...misspelled,
    ...inside,
  ];
}

function misspell(name: string, known: readonly string[]): string {
  const middle = Math.floor(name.length / 2);
  const doubled = name.slice(0, middle) + name.charAt(middle) + name.slice(middle);
  return known.includes(doubled) ? `${name}${name.slice(-1)}` : doubled;
}

async function getError(call: Call, options: never): Promise<unknown> {
  try {
    await call(options);
  } catch (error) {
    return error;
  }
  return undefined;
}

function listSources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `${folder}/${path}`);
}
