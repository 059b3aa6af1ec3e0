export {
  checkArtifactName,
  type ArtifactKey,
  type ArtifactPart,
  type ArtifactService,
  type ArtifactVersion,
  type SaveArtifactOptions,
} from './artifact-service.ts';
export { FileArtifactService } from './artifacts/file-artifact-service.ts';
export { InMemoryCredentialStore, type CredentialStore } from './credentials.ts';
export { fingerprintOf } from './fingerprint.ts';
export { InMemoryArtifactService } from './in-memory-artifact-service.ts';
export { InMemoryMemoryService } from './in-memory-memory-service.ts';
export { DuplicateToolError, indexTools } from './index-tools.ts';
export { InvalidToolError } from './invalid-tool-error.ts';
export { jsonSchemaOf } from './json-schema.ts';
export { loadArtifactsTool } from './load-artifacts-tool.ts';
export { loadMemoryTool } from './load-memory-tool.ts';
export { memoryEntriesOf, type MemoryEntry, type MemoryService } from './memory-service.ts';
export { listArtifactsTool } from './list-artifacts-tool.ts';
export { NoServiceError } from './no-service-error.ts';
export { isStandardSchema, type ArgsOf, type ToolParameters } from './parameters.ts';
export {
  AsyncSchemaError,
  type ArgsParser,
  type ParsedArgs,
  type ValidArgs,
} from './parsed-args.ts';
export { Pending, pending, type PendingOptions, type ToolAnswer } from './pending.ts';
export { RUN_CONFIG_KEY, type RunConfig } from './run-config.ts';
export { saveArtifactTool } from './save-artifact-tool.ts';
export { SqliteMemoryService } from './sqlite-memory-service.ts';
export { StateBuffer, type StateSnapshot, type ToolState } from './state-buffer.ts';
export { isReadOnly, type StateWrites } from './state-writes.ts';
export { actionsOf, type Actions, type ToolActions } from './tool-actions.ts';
export type { ToolArtifacts } from './tool-artifacts.ts';
export {
  openToolContext,
  type OpenedToolContext,
  type ToolCallFacts,
  type ToolContext,
  type ToolRun,
  type ToolServices,
} from './tool-context.ts';
export type { ToolMemory } from './tool-memory.ts';
export {
  failedToolResponse,
  toolError,
  toToolResponse,
  type ToolResponse,
} from './tool-response.ts';
export { filteredToolset, isToolset, prefixedToolset, toolset, type Toolset } from './toolset.ts';
export { ExternalToolError, tool, type OnCrash, type Tool, type ToolDefinition } from './tool.ts';
export { InMemoryVectorIndex, type VectorIndex, type VectorItem } from './vector-index.ts';
export { VectorMemoryService, type VectorMemoryOptions } from './vector-memory-service.ts';
