export { aiSdkModel, type AiSdkModelOptions } from './ai-sdk-model.ts';
export { FEATURES, type Feature } from './feature.ts';
export type { ContextCacheConfig } from './gemini-context-cache.ts';
export type { LanguageModel } from './language-model.ts';
export {
  ModelError,
  toModelError,
  type ModelErrorKind,
  type ModelErrorOptions,
} from './model-error.ts';
export {
  parseModelRef,
  type ModelPlace,
  type ModelRef,
  type NestedModelPlace,
} from './model-ref.ts';
export type {
  CacheConfig,
  GenerationConfig,
  Model,
  ModelContext,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ThinkingConfig,
} from './model.ts';
export { PROVIDER_NAMES, UnknownModelError, type ProviderName } from './provider-name.ts';
export { MissingPackageError } from './provider-packages.ts';
export {
  checkCallerModel,
  checkModelOrigin,
  MissingBaseUrlError,
  type ModelEnv,
} from './model-access.ts';
export {
  MissingKeyError,
  resolveModel,
  type KeyedCall,
  type ResolveModelOptions,
} from './resolve-model.ts';
export {
  normaliseSchema,
  type NormalisedSchema,
  type SchemaDialect,
} from './schema/normalise-schema.ts';
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
export { toolNames, type ToolNames } from './tool-names.ts';
export { UnsupportedFeatureError } from './unsupported-feature-error.ts';
export { withCallIds } from './with-call-ids.ts';
