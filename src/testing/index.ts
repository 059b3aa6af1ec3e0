export { SimulatedClock } from '../net/index.ts';
export {
  parseScriptedTurns,
  ScriptedModel,
  ScriptExhaustedError,
  type Script,
  type ScriptedError,
  type ScriptedModelOptions,
  type ScriptedToolCall,
  type ScriptedTurn,
} from '../models/index.ts';
export { storeContract, type StoreContractCase, type StoreHarness } from '../store/index.ts';
