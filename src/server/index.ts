export { ApiKeys, type ApiKey, type ApiKeyOptions, type Caller } from './api-keys.ts';
export { failureLog, type SessionFailure } from './client-failure.ts';
export {
  createServer,
  type AuditLine,
  type RequestFacts,
  type Server,
  type ServerLimits,
  type ServerOptions,
} from './create-server.ts';
export type { KeyScope, KeyScopeType } from './key-scope.ts';
export { listen, type Listening, type ListenOptions } from './listen.ts';
export { Metrics } from './metrics.ts';
export { MissingServerPackageError } from './missing-server-package-error.ts';
export { SecretKeyError } from './secret-box.ts';
export { seedAgents } from './seed-agents.ts';
export type { WebhookRules } from './post-webhook.ts';
export { workerTools } from './worker-tools.ts';
