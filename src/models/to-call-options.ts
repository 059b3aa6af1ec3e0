import type { JsonObject } from '../core/index.ts';
import { featuresOf, type Feature } from './feature.ts';
import { hideFiles } from './hide-files.ts';
import {
  familyOf,
  type CallOptions,
  type FunctionTool,
  type LanguageModel,
  type ProviderOptions,
} from './language-model.ts';
import type { CacheConfig, GenerationConfig, ModelRequest, ThinkingConfig } from './model.ts';
import { OPTION_NAMES, profileOf } from './provider-profile.ts';
import type { NormalisedSchema, SchemaDialect } from './schema/normalise-schema.ts';
import { responseSchemaFor } from './schema/response-schema.ts';
import { toPrompt } from './to-prompt.ts';
import type { ToolDeclaration } from './tool-declaration.ts';
import { toolNames, type ToolNames } from './tool-names.ts';

/** One call, in the words of the SDK, and how to read what comes back. */
export interface PlannedCall {
  readonly options: Omit<CallOptions, 'abortSignal'>;
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
  readonly sealsThinking: boolean;
}

/** Writes a request for one model, leaving out what its provider has no word for. */
export async function toCallOptions(
  model: LanguageModel,
  request: ModelRequest,
  normalised: (tool: ToolDeclaration) => NormalisedSchema,
  { refusedTypes, sealsThinking }: LearnedLimits,
): Promise<PlannedCall> {
  const { config = {}, tools } = request;
  const profile = profileOf(model);
  const { lacks, checksUrls, effortOption, dialect, seesResultImages } = profile;
  const isThoughtless = profile.cannotThink?.(model.modelId) === true;
  const { contents, hidden, warnings, shownTypes } = hideFiles(request.contents, {
    lacks,
    refusedTypes,
    ...(checksUrls && { supportedUrls: await model.supportedUrls }),
  });
  const v3 = model.specificationVersion === 'v3';
  const isLacking = (feature: Feature): boolean =>
    lacks.has(feature) ||
    (feature === 'thinking.effort' && (isThoughtless || (v3 && effortOption === undefined)));
  const lacking = [...featuresOf({ config, contents, tools })].filter(isLacking);
  const granted = withoutWishes(config, new Set(lacking));
  // No effort is what a model that cannot think makes anyway.
  const isGranted = (feature: Feature): boolean =>
    feature === 'thinking.effort' && isThoughtless && config.thinking?.effort === 'none';
  const strayed = strayOptions(model, config);
  const { format, strict } = formatOf(dialect, granted);
  const names = toolNames(tools.map(({ name }) => name));
  const schemas = new Map(tools.map((tool) => [tool.name, normalised(tool)]));
  return {
    unsupported: [...lacking.filter((feature) => !isGranted(feature)), ...hidden],
    misnamed: strayed.misnamed,
    optionNames: strayed.read,
    warnings: [...warnings, ...strayed.warnings],
    fileTypes: shownTypes,
    names,
    restore: (toolName, args) => schemas.get(toolName)?.restore(args) ?? args,
    options: {
      prompt: toPrompt(
        { ...request, contents },
        {
          version: model.specificationVersion,
          family: familyOf(model),
          seesResultImages,
          names,
          ...cacheMarkOf(model, granted.cache),
        },
      ),
      ...samplingOf(granted),
      ...toolOptions(tools, schemas, names, granted),
      ...effortOf(model, granted.thinking),
      ...format,
      ...providerOptionsOf(model, granted, { strict, sealsThinking }),
    },
  };
}

function cacheMarkOf(
  model: LanguageModel,
  cache: CacheConfig = {},
): { readonly cacheMark?: { after: 'instruction' | 'conversation'; options: ProviderOptions } } {
  const mark = profileOf(model).cacheMark?.(cache);
  const after = cache.prefix ?? (cache.retention === 'long' ? 'instruction' : undefined);
  if (after === undefined || mark === undefined) return {};
  const names = profileOf(model).optionNames(familyOf(model));
  return { cacheMark: { after, options: Object.fromEntries(names.map((name) => [name, mark])) } };
}

function samplingOf(config: GenerationConfig): Partial<CallOptions> {
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
  schemas: ReadonlyMap<string, NormalisedSchema>,
  names: ToolNames,
  { toolChoice }: GenerationConfig,
): Partial<CallOptions> {
  if (declarations.length === 0) return {};
  const tools = declarations.map(({ name, description, parameters }): FunctionTool => {
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
function effortOf(
  { specificationVersion }: LanguageModel,
  { effort }: ThinkingConfig = {},
): Partial<CallOptions> {
  return effort === undefined || specificationVersion === 'v3' ? {} : { reasoning: effort };
}

function formatOf(
  dialect: SchemaDialect,
  { json, responseSchema }: GenerationConfig,
): { readonly format: Partial<CallOptions>; readonly strict?: boolean } {
  if (responseSchema === undefined) {
    return { format: json === true ? { responseFormat: { type: 'json' } } : {} };
  }
  const { schema, strict } = responseSchemaFor(responseSchema, dialect);
  return { format: { responseFormat: { type: 'json', schema } }, strict };
}

/** Under the names by which the packages look for them; what the caller says stands above all. */
function providerOptionsOf(
  model: LanguageModel,
  config: GenerationConfig,
  {
    strict,
    sealsThinking,
  }: { readonly strict?: boolean | undefined; readonly sealsThinking: boolean },
): Partial<CallOptions> {
  const { options, optionNames, familyOptions = {}, effortOption, dialect } = profileOf(model);
  const { modelId, specificationVersion } = model;
  const effort = specificationVersion === 'v3' ? config.thinking?.effort : undefined;
  const saysStrict = dialect === 'openai' || dialect === 'compatible';
  const ours: JsonObject = {
    ...options(config, { modelId, sealsThinking }),
    ...(effort !== undefined && effortOption?.(effort)),
    ...(strict !== undefined && saysStrict && { strictJsonSchema: strict }),
  };
  const theirs: ProviderOptions = config.providerOptions ?? {};
  const names = optionNames(familyOf(model));
  // A package takes the first of its names that there is, so each of them holds everything.
  const own = Object.assign({}, ours, ...names.toReversed().map((name) => theirs[name]));
  const family = familyOf(model);
  const merged = {
    ...theirs,
    [family]: { ...familyOptions, ...theirs[family] },
    ...Object.fromEntries(names.map((name) => [name, own])),
  };
  const said = Object.entries(merged).filter(([, one]) => Object.keys(one).length > 0);
  return said.length === 0 ? {} : { providerOptions: Object.fromEntries(said) };
}

interface StrayOptions {
  /** The names that the package reads. */
  readonly read: readonly string[];
  /** Names that no package reads. */
  readonly misnamed: readonly string[];
  readonly warnings: readonly string[];
}

/** Provider options that nobody reads here: those for another provider are told, those for none are a mistake. */
function strayOptions(
  model: LanguageModel,
  { providerOptions = {} }: GenerationConfig,
): StrayOptions {
  const { optionNames, aliases } = profileOf(model);
  const family = familyOf(model);
  const read = [...new Set([...optionNames(family), ...(aliases?.(family) ?? [])])];
  const camel = family.replaceAll(/[-_]+(\w)/g, (_, letter: string) => letter.toUpperCase());
  const stray = Object.keys(providerOptions).filter((name) => ![...read, camel].includes(name));
  // What a package that is not known reads is not known either.
  const misnamed = aliases === undefined ? [] : stray.filter((name) => !OPTION_NAMES.has(name));
  const warnings = stray
    .filter((name) => !misnamed.includes(name))
    .map((name) => `providerOptions.${name}: this model reads ${read.join(', ')}`);
  return { read, misnamed, warnings };
}

/** The configuration without the wishes that cannot be said. */
function withoutWishes(config: GenerationConfig, lacking: ReadonlySet<Feature>): GenerationConfig {
  const { thinking = {}, cache = {}, ...flat } = config;
  const keep = <T extends object>(wishes: T, prefix: string): T => {
    const kept = Object.entries(wishes).filter(([name]) => !isLacking(`${prefix}${name}`));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same object with fewer of its optional members
    return Object.fromEntries(kept) as T;
  };
  return {
    ...keep(flat, ''),
    thinking: keep(thinking, 'thinking.'),
    cache: keep(cache, 'cache.'),
  };

  function isLacking(name: string): boolean {
    return [...lacking].some((feature) => feature === name);
  }
}
