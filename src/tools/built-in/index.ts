export { bashTool } from './commands/bash-tool.ts';
export { codeExecutionTool } from './commands/code-execution-tool.ts';
export type { CommandOptions } from './commands/command-options.ts';
export {
  Environments,
  type EnvironmentConfig,
  type EnvironmentRules,
} from './workspace/environments.ts';
export { type ToolEnvironment, type ToolEnvironmentSource } from './workspace/tool-environment.ts';
export { type WorkspaceFilesOptions } from './workspace/workspace-files.ts';
export { FileError, type FileErrorCode } from './workspace/file-error.ts';
export { filesystemTools } from './files/filesystem-tools.ts';
export { bubblewrap, type BubblewrapOptions } from '../sandbox/bubblewrap.ts';
export {
  type Sandbox,
  type SandboxCommand,
  type SandboxEnd,
  type SandboxResult,
} from '../sandbox/sandbox.ts';
export { defaultSandboxLimits, type SandboxLimits } from '../sandbox/sandbox-limits.ts';
export { SandboxUnavailableError } from '../sandbox/sandbox-unavailable-error.ts';
export { withoutSandbox } from '../sandbox/without-sandbox.ts';
export {
  FetchError,
  loadPublicAddressRule,
  MissingToolPackageError,
  type AddressRule,
  type FetchErrorCode,
  type ResolveHost,
} from '../../egress/index.ts';
export { webFetchTool, type WebFetchOptions } from './web/web-fetch-tool.ts';
export { braveSearch, type BraveSearchOptions } from './web/brave-search.ts';
export { builtInTools, type BuiltInServices, type BuiltInTool } from './built-in-tools.ts';
export { SearchError, type SearchErrorCode } from './web/search-error.ts';
export type { SearchProvider, WebSearchResult } from './web/search-provider.ts';
export { webSearchTool, type WebSearchOptions } from './web/web-search-tool.ts';
export {
  builtInSource,
  type BuiltInSourceOptions,
  type BuiltInEnvironment,
} from './built-in-source.ts';
