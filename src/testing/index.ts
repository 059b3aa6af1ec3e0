export type {
  MakeModelHarness,
  ModelContractCase,
  ModelHarness,
} from '../models/contract/model-contract-case.ts';
export { modelContract } from '../models/contract/model-contract.ts';
export { SimulatedClock } from '../net/index.ts';
export {
  parseScriptedTurns,
  ScriptedModel,
  ScriptExhaustedError,
  type ModelScript,
  type ScriptedError,
  type ScriptedModelOptions,
  type ScriptedToolCall,
  type ScriptedTurn,
} from '../models/index.ts';
export type { StoreContractCase, StoreHarness } from '../store/contract/contract-case.ts';
export { storeContract } from '../store/contract/store-contract.ts';
