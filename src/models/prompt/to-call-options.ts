import type { JsonObject } from '../../core/index.ts';
import { requestedFeatures, type Feature } from '../provider/feature.ts';
import { hideFiles } from './hide-files.ts';
import {
  providerFamily,
  type ModelCallOptions,
  type ProviderFunctionTool,
  type LanguageModel,
  type ProviderOptions,
} from '../provider/language-model.ts';
import type {
  CacheConfig,
  GenerationConfig,
  ModelRequest,
  ThinkingConfig,
} from '../model/model.ts';
import { OPTION_NAMES, getProviderProfile } from '../provider/provider-profile.ts';
import type { NormalizedSchema, SchemaDialect } from '../schema/normalize-schema.ts';
import { responseSchemaFor } from '../schema/response-schema.ts';
import { toPrompt } from './to-prompt.ts';
import type { ToolDeclaration } from '../model/tool-declaration.ts';
import { toolNames, type ToolNames } from './tool-names.ts';

/** One call, in the words of the SDK, and how to read what comes back. */
export interface PlannedCall {
  readonly options: Omit<ModelCallOptions, 'abortSignal'>;
  /** What was wished for and cannot be said to this provider. */
  readonly unsupported: readonly Feature[];
  /** Names of provider options that no package reads. */
  readonly misnamed: readonly string[];
  /** The names that its package reads. */
  readonly optionNames: readonly string[];
  /** What is left out though nothing is refused. */
  readonly warnings: readonly string[];
  /** Media types of the files that go along. */
  readonly fileTypes: ReadonlySet<string>;
  readonly names: ToolNames;
  /** Gives the arguments of a call the form the tool's own schema means. */
  readonly restore: (toolName: string, args: JsonObject) => JsonObject;
}

/** What earlier answers of a service taught about it. */
export interface LearnedLimits {
  /** Media types that the package has refused. */
  readonly refusedTypes: ReadonlySet<string>;
  /** Whether the service seals thinking. */
  readonly encryptsThinking: boolean;
}

/** Writes a request for one model, leaving out what its provider has no word for. */
export async function toCallOptions(
  model: LanguageModel,
  request: ModelRequest,
  normalizedSchema: (tool: ToolDeclaration) => NormalizedSchema,
  { refusedTypes, encryptsThinking }: LearnedLimits,
): Promise<PlannedCall> {
  const { config = {}, tools } = request;
  const profile = getProviderProfile(model);
  const { unsupported, declaresSupportedUrls, effortOption, dialect, supportsResultImages } =
    profile;
  const isNonReasoning = profile.cannotThink?.(model.modelId) === true;
  const { contents, hidden, warnings, shownTypes } = hideFiles(request.contents, {
    unsupported,
    refusedTypes,
    ...(declaresSupportedUrls && { supportedUrls: await model.supportedUrls }),
  });
  const v3 = model.specificationVersion === 'v3';
  const isUnsupported = (feature: Feature): boolean =>
    unsupported.has(feature) ||
    (feature === 'thinking.effort' && (isNonReasoning || (v3 && effortOption === undefined)));
  const missing = [...requestedFeatures({ config, contents, tools })].filter(isUnsupported);
  const supportedConfig = omitFeatures(config, new Set(missing));
  // No effort is what a model that cannot think makes anyway.
  const changesNothing = (feature: Feature): boolean =>
    feature === 'thinking.effort' && isNonReasoning && config.thinking?.effort === 'none';
  const stray = findStrayOptions(model, config);
  const { format, strict } = toResponseFormat(dialect, supportedConfig);
  const names = toolNames(tools.map(({ name }) => name));
  const schemas = new Map(tools.map((tool) => [tool.name, normalizedSchema(tool)]));
  return {
    unsupported: [...missing.filter((feature) => !changesNothing(feature)), ...hidden],
    misnamed: stray.misnamed,
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
      ...toProviderOptions(model, supportedConfig, { strict, encryptsThinking: encryptsThinking }),
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
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(seed !== undefined && { seed }),
  };
}

function toolOptions(
  declarations: readonly ToolDeclaration[],
  schemas: ReadonlyMap<string, NormalizedSchema>,
  names: ToolNames,
  { toolChoice }: GenerationConfig,
): Partial<ModelCallOptions> {
  if (declarations.length === 0) return {};
  const tools = declarations.map(({ name, description, parameters }): ProviderFunctionTool => {
    const { schema = parameters, strict } = schemas.get(name) ?? {};
    return {
      type: 'function',
      name: names.toProvider(name),
      description,
      inputSchema: schema,
      ...(strict !== undefined && { strict }),
    };
  });
  if (toolChoice === undefined) return { tools };
  if (typeof toolChoice === 'string') return { tools, toolChoice: { type: toolChoice } };
  return { tools, toolChoice: { type: 'tool', toolName: names.toProvider(toolChoice.tool) } };
}

// Version 3 has no word for it, but the packages of the big providers have.
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

/** Under the names by which the packages look for them; what the caller says stands above all. */
function toProviderOptions(
  model: LanguageModel,
  config: GenerationConfig,
  {
    strict,
    encryptsThinking,
  }: { readonly strict?: boolean | undefined; readonly encryptsThinking: boolean },
): Partial<ModelCallOptions> {
  const {
    options,
    optionNames,
    familyOptions = {},
    effortOption,
    dialect,
  } = getProviderProfile(model);
  const { modelId, specificationVersion } = model;
  const effort = specificationVersion === 'v3' ? config.thinking?.effort : undefined;
  const hasStrictOption = dialect === 'openai' || dialect === 'compatible';
  const derived: JsonObject = {
    ...options(config, { modelId, encryptsThinking }),
    ...(effort !== undefined && effortOption?.(effort)),
    ...(strict !== undefined && hasStrictOption && { strictJsonSchema: strict }),
  };
  const callerOptions: ProviderOptions = config.providerOptions ?? {};
  const names = optionNames(providerFamily(model));
  // A package takes the first of its names that there is, so each of them holds everything.
  const own = Object.assign({}, derived, ...names.toReversed().map((name) => callerOptions[name]));
  const family = providerFamily(model);
  const merged = {
    ...callerOptions,
    [family]: { ...familyOptions, ...callerOptions[family] },
    ...Object.fromEntries(names.map((name) => [name, own])),
  };
  const nonEmpty = Object.entries(merged).filter(([, one]) => Object.keys(one).length > 0);
  return nonEmpty.length === 0 ? {} : { providerOptions: Object.fromEntries(nonEmpty) };
}

interface StrayOptions {
  /** The names that the package reads. */
  readonly read: readonly string[];
  /** Names that no package reads. */
  readonly misnamed: readonly string[];
  readonly warnings: readonly string[];
}

/** Provider options that nobody reads here: those for another provider are told, those for none are a mistake. */
function findStrayOptions(
  model: LanguageModel,
  { providerOptions = {} }: GenerationConfig,
): StrayOptions {
  const { optionNames, aliases } = getProviderProfile(model);
  const family = providerFamily(model);
  const read = [...new Set([...optionNames(family), ...(aliases?.(family) ?? [])])];
  const camel = family.replaceAll(/[-_]+(\w)/g, (_, char: string) => char.toUpperCase());
  const stray = Object.keys(providerOptions).filter((name) => ![...read, camel].includes(name));
  // What a package that is not known reads is not known either.
  const misnamed = aliases === undefined ? [] : stray.filter((name) => !OPTION_NAMES.has(name));
  const warnings = stray
    .filter((name) => !misnamed.includes(name))
    .map((name) => `providerOptions.${name}: this model reads ${read.join(', ')}`);
  return { read, misnamed, warnings };
}

/** The configuration without the wishes that cannot be said. */
function omitFeatures(config: GenerationConfig, features: ReadonlySet<Feature>): GenerationConfig {
  const { thinking = {}, cache = {}, ...flat } = config;
  const keep = <T extends object>(members: T, prefix: string): T => {
    const kept = Object.entries(members).filter(([name]) => !isOmitted(`${prefix}${name}`));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same object with fewer of its optional members
    return Object.fromEntries(kept) as T;
  };
  return {
    ...keep(flat, ''),
    thinking: keep(thinking, 'thinking.'),
    cache: keep(cache, 'cache.'),
  };

  function isOmitted(name: string): boolean {
    return [...features].some((feature) => feature === name);
  }
}
