export type { NetSession } from './net-session.ts';
export { PetriAgent, type PetriAgentOptions } from './petri-agent.ts';
export {
  cleanerOwned,
  strongOwned,
  type RegistryOptions,
  type SessionRegistry,
  type RegisteredSession,
} from './session-registry.ts';
export type { SharedRunnerOptions } from './shared-runners.ts';
export { StockAgent, StockAgentWaitsError } from './stock-agent.ts';
