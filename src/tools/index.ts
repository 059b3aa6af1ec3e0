export {
  type ArtifactKey,
  type ArtifactOwner,
  type ArtifactPart,
  type ArtifactService,
  type ArtifactVersion,
  type SaveArtifactOptions,
} from './artifacts/artifact-service.ts';
export {
  aiSdkTools,
  type AiSdkTool,
  type AiSdkToolDurability,
  type AiSdkToolsOptions,
} from './tool/ai-sdk-tools.ts';
export { checkArtifactName } from './artifacts/check-artifact-name.ts';
export {
  FileArtifactService,
  type FileArtifactOptions,
} from './artifacts/file-artifact-service.ts';
export { FileObjectStore } from './artifacts/file-object-store.ts';
export type { ObjectStore, StoredObject } from './artifacts/object-store.ts';
export { InMemoryCredentialStore, type CredentialStore } from './auth/credential-store.ts';
export type { ClientTool } from './tool/client-tool.ts';
export { callFingerprint } from './tool/call-fingerprint.ts';
export {
  InMemoryArtifactService,
  type InMemoryArtifactOptions,
} from './artifacts/in-memory-artifact-service.ts';
export { InMemoryMemoryService } from './memory/in-memory-memory-service.ts';
export { DuplicateToolError, indexTools } from './tool/index-tools.ts';
export { InvalidToolError } from './schema/invalid-tool-error.ts';
export { toJsonSchema } from './schema/to-json-schema.ts';
export { loadArtifactsTool } from './session-tools/load-artifacts-tool.ts';
export { loadMemoryTool, type LoadMemoryOptions } from './session-tools/load-memory-tool.ts';
export { toMemoryEntries, type MemoryEntry, type MemoryService } from './memory/memory-service.ts';
export { listArtifactsTool } from './session-tools/list-artifacts-tool.ts';
export { NoServiceError } from './tool/no-service-error.ts';
export { isStandardSchema, type InferArgs, type ToolParameters } from './schema/tool-parameters.ts';
export {
  AsyncSchemaError,
  type ArgsParser,
  type ParsedArgs,
  type ValidArgs,
} from './schema/parsed-args.ts';
export { Pending, pending, type PendingOptions, type ToolAnswer } from './tool/pending.ts';
export { providerTool, type ProviderToolDefinition } from './tool/provider-tool.ts';
export { retrievalTool, type RetrievalToolDefinition } from './retrieval/retrieval-tool.ts';
export type { FoundPassage, Passage, Retriever } from './retrieval/retriever.ts';
export { VectorRetriever, type VectorRetrieverOptions } from './retrieval/vector-retriever.ts';
export { saveArtifactTool } from './session-tools/save-artifact-tool.ts';
export { SqliteMemoryService } from './memory/sqlite-memory-service.ts';
export {
  StateBuffer,
  type BufferedWrites,
  type StateSnapshot,
  type ToolState,
} from './state/state-buffer.ts';
export { createActions, type Actions, type ToolActions } from './tool/tool-actions.ts';
export type { ToolArtifacts } from './tool/tool-artifacts.ts';
export {
  openToolContext,
  type OpenedToolContext,
  type ToolCallFacts,
  type ToolContext,
  type ToolRun,
  type ToolServices,
  type RunConfigJson,
  type ToolMetadata,
} from './tool/tool-context.ts';
export { ToolFailedError } from './tool/tool-failed-error.ts';
export type { ToolMemory } from './tool/tool-memory.ts';
export {
  failedToolResponse,
  toolError,
  toToolResponse,
  type ToolResponse,
} from './tool/tool-response.ts';
export {
  filteredToolset,
  isToolset,
  prefixedToolset,
  toolset,
  type Toolset,
} from './tool/toolset.ts';
export {
  ExternalToolError,
  tool,
  type ToolCrashPolicy,
  type Tool,
  type ToolDefinition,
} from './tool/tool.ts';
export { InMemoryVectorIndex, type VectorIndex, type VectorItem } from './memory/vector-index.ts';
export { VectorMemoryService, type VectorMemoryOptions } from './memory/vector-memory-service.ts';
