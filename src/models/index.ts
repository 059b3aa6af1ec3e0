export { aiSdkEmbed, type AiSdkEmbedOptions, type EmbeddingModel } from './ai-sdk-embed.ts';
export { aiSdkModel, type AiSdkModelOptions } from './ai-sdk-model.ts';
export { FEATURES, type Feature } from './provider/feature.ts';
export type { ContextCacheConfig } from './provider/gemini-context-cache.ts';
export type { LanguageModel } from './provider/language-model.ts';
export {
  ModelError,
  toModelError,
  type ModelErrorKind,
  type ModelErrorOptions,
} from './model/model-error.ts';
export {
  parseModelRef,
  type ModelSpec,
  type ModelRef,
  type NestedModelSpec,
} from './reference/model-ref.ts';
export type {
  CacheConfig,
  GenerationConfig,
  Model,
  ModelContext,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ThinkingConfig,
} from './model/model.ts';
export { ModelNotResolvedError } from './reference/model-not-resolved-error.ts';
export type { ModelResolver } from './reference/named-model.ts';
export { PROVIDER_NAMES, UnknownModelError, type ProviderName } from './reference/provider-name.ts';
export { MissingPackageError } from './reference/load-provider.ts';
export { MissingBaseUrlError, type ModelEnv } from './reference/model-address-and-key.ts';
export { checkCallerModel, checkModelOrigin } from './reference/check-model-origin.ts';
export {
  MissingKeyError,
  resolveModel,
  type KeyedCall,
  type ResolveModelOptions,
} from './resolve-model.ts';
export {
  normalizeSchema,
  type NormalizedSchema,
  type SchemaDialect,
} from './schema/normalize-schema.ts';
export {
  ScriptedModel,
  ScriptExhaustedError,
  type ModelScript,
  type ScriptedModelOptions,
} from './scripted/scripted-model.ts';
export {
  parseScriptedTurns,
  type ScriptedError,
  type ScriptedToolCall,
  type ScriptedTurn,
} from './scripted/scripted-turn.ts';
export type {
  JsonSchema,
  ProviderToolDeclaration,
  ToolDeclaration,
} from './model/tool-declaration.ts';
export { toolNames, type ToolNames } from './prompt/tool-names.ts';
export { UnsupportedFeatureError } from './model/unsupported-feature-error.ts';
export { withCallIds } from './model/with-call-ids.ts';
