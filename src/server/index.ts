export { ApiKeys, type ApiKey, type ApiKeyOptions, type Caller } from './auth/api-keys.ts';
export { failureLog, type SessionFailure } from './wire/failure-log.ts';
export {
  createServer,
  type AuditLine,
  type ConnectionInfo,
  type Server,
  type ServerLimits,
  type ServerOptions,
} from './create-server.ts';
export type { KeyScope, KeyScopeType } from './auth/key-scope.ts';
export { listen, type ListeningServer, type ListenOptions } from './listen.ts';
export { Metrics } from './metrics/metrics.ts';
export { MissingServerPackageError } from './missing-server-package-error.ts';
export { SecretKeyError } from './webhooks/secret-box.ts';
export { registerAgents } from './register-agents.ts';
export type { WebhookRules } from './webhooks/webhook-sender.ts';
export { workerTools } from './workers/worker-tools.ts';
