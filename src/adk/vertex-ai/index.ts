export { type AgentEngineOptions } from './agent-engine.ts';
export {
  MissingVertexAiPackageError,
  VertexAiRequestError,
  VertexAiSyncPendingError,
} from './vertex-ai-errors.ts';
export { VertexAiMemoryBankService } from './vertex-ai-memory-bank-service.ts';
export {
  VertexAiSessionService,
  type VertexAiCreateSessionRequest,
  type VertexAiSessionOptions,
} from './vertex-ai-session-service.ts';
