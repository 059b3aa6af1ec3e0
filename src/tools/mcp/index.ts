export { InMemoryCredentialStore, type CredentialStore } from '../auth/credential-store.ts';
export type { McpAuth, McpBearer, McpOAuth } from './vocabulary/mcp-auth.ts';
export {
  McpClosedError,
  McpConnectError,
  McpConnectionLostError,
  McpMessageTooLargeError,
  McpPackageMissingError,
  McpRequestError,
  McpToolError,
  McpUnauthorizedError,
} from './vocabulary/mcp-errors.ts';
export type {
  McpHttpServer,
  McpStdioServer,
  McpElicitation,
  McpElicitationResult,
  McpToolPolicy,
  McpToolsetOptions,
  McpToolsetSettings,
} from './vocabulary/mcp-options.ts';
export { mcpSource, type McpServerEntry, type McpSourceOptions } from './mcp-source.ts';
export type {
  McpPrompt,
  McpRequestOptions,
  McpResource,
  McpResourceTemplate,
  McpToolset,
  RefusedTool,
} from './vocabulary/mcp-toolset.ts';
export { openMcpToolset } from './open-mcp-toolset.ts';
