export { InMemoryCredentialStore, type CredentialStore } from '../credentials.ts';
export type { McpAuth, McpBearer, McpOAuth } from './mcp-auth.ts';
export {
  McpClosedError,
  McpConnectError,
  McpConnectionLostError,
  McpMessageTooLargeError,
  McpPackageMissingError,
  McpRequestError,
  McpToolError,
  McpUnauthorizedError,
} from './mcp-errors.ts';
export type {
  McpAddress,
  McpProgram,
  McpQuestion,
  McpQuestionAnswer,
  McpToolPolicy,
  McpToolsetOptions,
  McpToolsetSettings,
} from './mcp-options.ts';
export { mcpSource, type McpServerEntry, type McpSourceOptions } from './mcp-source.ts';
export type {
  McpPrompt,
  McpRequestOptions,
  McpResource,
  McpResourceTemplate,
  McpToolset,
  RefusedTool,
} from './mcp-toolset.ts';
export { openMcpToolset } from './open-mcp-toolset.ts';
