export {
  type MakeModelHarness,
  type ModelContractCase,
  type ModelHarness,
  modelContract,
} from '../models/contract/index.ts';
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
export {
  type StoreContractCase,
  type StoreHarness,
  storeContract,
} from '../store/contract/index.ts';
