export { bashTool } from './bash-tool.ts';
export { codeExecutionTool } from './code-execution-tool.ts';
export type { CommandOptions } from './command-options.ts';
export { Environments, type EnvironmentConfig, type EnvironmentRules } from './environments.ts';
export { type Environment, type EnvironmentSource } from './environment.ts';
export { type FileAccessOptions } from './file-access.ts';
export { FileError, type FileErrorCode } from './file-error.ts';
export { filesystemTools } from './filesystem-tools.ts';
export { bubblewrap, type BubblewrapOptions } from '../sandbox/bubblewrap.ts';
export {
  defaultSandboxLimits,
  type Sandbox,
  type SandboxCommand,
  type SandboxEnd,
  type SandboxLimits,
  type SandboxResult,
} from '../sandbox/sandbox.ts';
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
export { webFetchTool, type WebFetchOptions } from './web-fetch-tool.ts';
export { braveSearch, type BraveSearchOptions } from './brave-search.ts';
export { builtInTools, type BuiltInServices, type BuiltInTool } from './built-in-tools.ts';
export { SearchError, type SearchErrorCode } from './search-error.ts';
export type { SearchProvider, SearchResult } from './search-provider.ts';
export { webSearchTool, type WebSearchOptions } from './web-search-tool.ts';
export {
  builtInSource,
  type BuiltInSourceOptions,
  type SourcedEnvironment,
} from './built-in-source.ts';
