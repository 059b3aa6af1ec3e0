import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import { requestedFeatures, type Feature } from '../provider/feature.ts';
import { hideFiles } from './hide-files.ts';
import {
  providerFamily,
  type FunctionToolOption,
  type ModelCallOptions,
  type LanguageModel,
  type ProviderOptions,
  type ProviderToolOption,
} from '../provider/language-model.ts';
import type {
  CacheConfig,
  GenerationConfig,
  ModelRequest,
  ThinkingConfig,
} from '../model/model.ts';
import { getProviderProfile } from '../provider/provider-profile.ts';
import type { NormalizedSchema, SchemaDialect } from '../schema/normalize-schema.ts';
import { responseSchemaFor } from '../schema/response-schema.ts';
import { toPrompt } from './to-prompt.ts';
import type { ToolDeclaration } from '../model/tool-declaration.ts';
import { toolNames, type ToolNames } from './tool-names.ts';
import { toProviderOptions, findStrayOptions, omitFeatures } from './provider-options.ts';

/** One call as options of the AI SDK, and how to read its response. */
export interface PlannedCall {
  readonly options: Omit<ModelCallOptions, 'abortSignal'>;
  /** Requested features that this provider cannot express. */
  readonly unsupported: readonly Feature[];
  /** Names in `providerOptions` that no package reads. */
  readonly misnamed: readonly string[];
  /** The names that the provider's package reads. */
  readonly optionNames: readonly string[];
  /** Tools of providers that this provider does not run. */
  readonly foreignTools: readonly ForeignTool[];
  /** What is dropped without rejecting the request. */
  readonly warnings: readonly string[];
  /** Media types of the files that are sent. */
  readonly fileTypes: ReadonlySet<string>;
  readonly names: ToolNames;
  /** Restores the arguments of a call to the form of the tool's original schema. */
  readonly restore: (toolName: string, args: JsonObject) => JsonObject;
}

/** A tool of a provider that the provider of the model does not run. */
export interface ForeignTool {
  readonly id: string;
  /** The providers whose tools the model runs. */
  readonly runs: readonly string[];
}

/** What earlier calls taught about a service. */
export interface LearnedLimits {
  /** Media types that the package has rejected. */
  readonly refusedTypes: ReadonlySet<string>;
  /** Whether the service returns encrypted thinking. */
  readonly encryptsThinking: boolean;
}

/** Plans a call for one model, without the features that its provider cannot express. */
export async function toCallOptions(
  model: LanguageModel,
  request: ModelRequest,
  normalizedSchema: (tool: ToolDeclaration) => NormalizedSchema,
  { refusedTypes, encryptsThinking }: LearnedLimits,
): Promise<PlannedCall> {
  const { config = {} } = request;
  const profile = getProviderProfile(model);
  const { tools, foreignTools } = selectTools(request.tools, model);
  const { unsupported, declaresSupportedUrls, effortOption, dialect, supportsResultImages } =
    profile;
  const isNonReasoning = profile.cannotThink?.(model.modelId) === true;
  const { contents, hidden, warnings, shownTypes } = hideFiles(request.contents, {
    unsupported,
    refusedTypes,
    ...omitUndefined({
      supportedUrls: declaresSupportedUrls ? await model.supportedUrls : undefined,
    }),
  });
  const v3 = model.specificationVersion === 'v3';
  const isUnsupported = (feature: Feature): boolean =>
    unsupported.has(feature) ||
    (feature === 'thinking.effort' && (isNonReasoning || (v3 && effortOption === undefined)));
  const missing = [...requestedFeatures({ config, contents, tools })].filter(isUnsupported);
  const supportedConfig = omitFeatures(config, new Set(missing));
  // Effort `none` is the behavior of a non-reasoning model anyway.
  const changesNothing = (feature: Feature): boolean =>
    feature === 'thinking.effort' && isNonReasoning && config.thinking?.effort === 'none';
  const stray = findStrayOptions(model, config);
  const { format, strict } = toResponseFormat(dialect, supportedConfig);
  const names = toolNames(tools.map(({ name }) => name));
  const schemas = new Map(tools.map((tool) => [tool.name, normalizedSchema(tool)]));
  return {
    unsupported: [...missing.filter((feature) => !changesNothing(feature)), ...hidden],
    misnamed: stray.misnamed,
    foreignTools,
    optionNames: stray.read,
    warnings: [...warnings, ...stray.warnings],
    fileTypes: shownTypes,
    names,
    restore: (toolName, args) => schemas.get(toolName)?.restore(args) ?? args,
    options: {
      prompt: toPrompt(
        { ...request, contents },
        {
          version: model.specificationVersion,
          family: providerFamily(model),
          supportsResultImages,
          names,
          ...toCacheMark(model, supportedConfig.cache),
        },
      ),
      ...toSamplingOptions(supportedConfig),
      ...toolOptions(tools, schemas, names, supportedConfig),
      ...toReasoningOption(model, supportedConfig.thinking),
      ...format,
      ...toProviderOptions(model, supportedConfig, { strict, encryptsThinking }),
    },
  };
}

function toCacheMark(
  model: LanguageModel,
  cache: CacheConfig = {},
): { readonly cacheMark?: { after: 'instruction' | 'conversation'; options: ProviderOptions } } {
  const mark = getProviderProfile(model).cacheMark?.(cache);
  const after = cache.prefix ?? (cache.retention === 'long' ? 'instruction' : undefined);
  if (after === undefined || mark === undefined) return {};
  const names = getProviderProfile(model).optionNames(providerFamily(model));
  return { cacheMark: { after, options: Object.fromEntries(names.map((name) => [name, mark])) } };
}

function toSamplingOptions(config: GenerationConfig): Partial<ModelCallOptions> {
  const { temperature, topP, topK, maxOutputTokens, stopSequences, seed } = config;
  const { presencePenalty, frequencyPenalty } = config;
  return omitUndefined({
    temperature,
    topP,
    topK,
    maxOutputTokens,
    stopSequences: stopSequences === undefined ? undefined : [...stopSequences],
    presencePenalty,
    frequencyPenalty,
    seed,
  });
}

/** Separates the tools of other providers, which the provider of the model does not know. */
function selectTools(
  tools: readonly ToolDeclaration[],
  model: LanguageModel,
): { readonly tools: readonly ToolDeclaration[]; readonly foreignTools: readonly ForeignTool[] } {
  const runs = getProviderProfile(model).toolProviders?.(providerFamily(model));
  if (runs === undefined) return { tools, foreignTools: [] };
  const isForeign = ({ provider }: ToolDeclaration): boolean =>
    provider !== undefined && !runs.includes(provider.id.split('.', 1)[0] ?? '');
  return {
    tools: tools.filter((tool) => !isForeign(tool)),
    foreignTools: tools
      .filter(isForeign)
      .flatMap(({ provider }) => (provider === undefined ? [] : [{ id: provider.id, runs }])),
  };
}

function toolOptions(
  declarations: readonly ToolDeclaration[],
  schemas: ReadonlyMap<string, NormalizedSchema>,
  names: ToolNames,
  { toolChoice }: GenerationConfig,
): Partial<ModelCallOptions> {
  if (declarations.length === 0) return {};
  const tools = declarations.map((declaration): FunctionToolOption | ProviderToolOption => {
    const { name, description, parameters, provider } = declaration;
    if (provider !== undefined)
      return { type: 'provider', name: names.toProvider(name), ...provider };
    const { schema = parameters, strict } = schemas.get(name) ?? {};
    return {
      type: 'function',
      name: names.toProvider(name),
      description,
      inputSchema: schema,
      ...omitUndefined({ strict }),
    };
  });
  if (toolChoice === undefined) return { tools };
  if (typeof toolChoice === 'string') return { tools, toolChoice: { type: toolChoice } };
  return { tools, toolChoice: { type: 'tool', toolName: names.toProvider(toolChoice.tool) } };
}

// Version 3 of the specification has no option for effort, but the packages of the large providers
// do.
function toReasoningOption(
  { specificationVersion }: LanguageModel,
  { effort }: ThinkingConfig = {},
): Partial<ModelCallOptions> {
  return effort === undefined || specificationVersion === 'v3' ? {} : { reasoning: effort };
}

function toResponseFormat(
  dialect: SchemaDialect,
  { json, responseSchema }: GenerationConfig,
): { readonly format: Partial<ModelCallOptions>; readonly strict?: boolean } {
  if (responseSchema === undefined) {
    return { format: json === true ? { responseFormat: { type: 'json' } } : {} };
  }
  const { schema, strict } = responseSchemaFor(responseSchema, dialect);
  return { format: { responseFormat: { type: 'json', schema } }, strict };
}
