export { ApiKeys, type ApiKey, type ApiKeyOptions, type Caller } from './auth/api-keys.ts';
export { failureLog, type SessionFailure } from './wire/failure-log.ts';
export { AdkWebFilesMissingError } from './protocols/adk/serve-adk-web.ts';
export { ConsoleFilesMissingError } from './console/console-files-missing-error.ts';
export {
  consoleHandler,
  type ConsoleHandler,
  type ConsoleOptions,
} from './console/serve-console.ts';
export { createServer, type Server } from './create-server.ts';
export type { ConnectionInfo } from './routing/connection-info.ts';
export type { ProtocolName } from './protocol-list.ts';
export type { AuditLine, ServerLimits, ServerOptions } from './server-options.ts';
export type { KeyScope, KeyScopeType } from './auth/key-scope.ts';
export { serveMcpStdio } from './serve-mcp-stdio.ts';
export type { McpStdioConnection, ServeMcpOptions } from './serve-mcp-stdio.ts';
export { listen, type ListeningServer, type ListenOptions } from './listen.ts';
export { LivePageFilesMissingError } from './live/live-page-files-missing-error.ts';
export type { UpgradeCall } from './live/live-endpoint.ts';
export { Metrics } from './metrics/metrics.ts';
export { MissingServerPackageError } from './http/missing-server-package-error.ts';
export { SecretKeyError } from './webhooks/secret-box.ts';
export type { ProofOptions } from './proofs/proof-options.ts';
export { registerAgents } from './register-agents.ts';
export type { WebhookRules } from './webhooks/webhook-sender.ts';
export { workerTools } from './workers/worker-tools.ts';
