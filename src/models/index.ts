export {
  ModelError,
  toModelError,
  type ModelErrorKind,
  type ModelErrorOptions,
} from './model-error.ts';
export type {
  GenerationConfig,
  Model,
  ModelContext,
  ModelDelta,
  ModelRequest,
  ModelResponse,
} from './model.ts';
export {
  ScriptedModel,
  ScriptExhaustedError,
  type Script,
  type ScriptedModelOptions,
} from './scripted-model.ts';
export {
  parseScriptedTurns,
  type ScriptedError,
  type ScriptedToolCall,
  type ScriptedTurn,
} from './scripted-turn.ts';
export type { JsonSchema, ToolDeclaration } from './tool-declaration.ts';
export { withCallIds } from './with-call-ids.ts';
