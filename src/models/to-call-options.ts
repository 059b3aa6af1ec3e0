import { isFileDataPart, type JsonObject } from '../core/index.ts';
import { featuresOf, type Feature } from './feature.ts';
import {
  familyOf,
  type CallOptions,
  type FunctionTool,
  type LanguageModel,
  type ProviderOptions,
  type SupportedUrls,
} from './language-model.ts';
import type { CacheConfig, GenerationConfig, ModelRequest, ThinkingConfig } from './model.ts';
import { profileOf } from './provider-profile.ts';
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
  readonly names: ToolNames;
  /** Gives the arguments of a call the form the tool's own schema means. */
  readonly restore: (toolName: string, args: JsonObject) => JsonObject;
}

/** Writes a request for one model, leaving out what its provider has no word for. */
export async function toCallOptions(
  model: LanguageModel,
  request: ModelRequest,
  normalised: (tool: ToolDeclaration) => NormalisedSchema,
): Promise<PlannedCall> {
  const { config = {}, contents, tools } = request;
  const { lacks, checksUrls, effortOption, dialect, seesResultImages } = profileOf(model);
  const v3 = model.specificationVersion === 'v3';
  const isLacking = (feature: Feature): boolean =>
    lacks.has(feature) || (feature === 'thinking.effort' && v3 && effortOption === undefined);
  const unsupported = [...featuresOf({ config, contents, tools })].filter(isLacking);
  const refusedUrl = checksUrls && hasRefusedUrl(request, await model.supportedUrls);
  const granted = withoutWishes(config, new Set(unsupported));
  const { format, strict } = formatOf(dialect, granted);
  const names = toolNames(tools.map(({ name }) => name));
  const schemas = new Map(tools.map((tool) => [tool.name, normalised(tool)]));
  return {
    unsupported: refusedUrl ? [...unsupported, 'imageUrls'] : unsupported,
    names,
    restore: (toolName, args) => schemas.get(toolName)?.restore(args) ?? args,
    options: {
      prompt: toPrompt(request, {
        version: model.specificationVersion,
        family: familyOf(model),
        seesResultImages,
        names,
        ...cacheMarkOf(model, granted.cache),
      }),
      ...samplingOf(granted),
      ...toolOptions(tools, schemas, names, granted),
      ...effortOf(model, granted.thinking),
      ...format,
      ...providerOptionsOf(model, granted, strict),
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
  return { cacheMark: { after, options: { [familyOf(model)]: mark } } };
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
  strict: boolean | undefined,
): Partial<CallOptions> {
  const { options, effortOption, dialect } = profileOf(model);
  const effort = model.specificationVersion === 'v3' ? config.thinking?.effort : undefined;
  const saysStrict = dialect === 'openai' || dialect === 'compatible';
  const ours: ProviderOptions = {
    [familyOf(model)]: {
      ...options(config),
      ...(effort !== undefined && effortOption?.(effort)),
      ...(strict !== undefined && saysStrict && { strictJsonSchema: strict }),
    },
  };
  const theirs: ProviderOptions = config.providerOptions ?? {};
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  const merged = names.map((name) => [name, { ...ours[name], ...theirs[name] }] as const);
  const said = merged.filter(([, one]) => Object.keys(one).length > 0);
  return said.length === 0 ? {} : { providerOptions: Object.fromEntries(said) };
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

function hasRefusedUrl({ contents }: ModelRequest, supported: SupportedUrls): boolean {
  const files = contents.flatMap(({ parts }) => parts).filter(isFileDataPart);
  return files.some(({ fileData: { mimeType, fileUri } }) => {
    // A name that is no address is the provider's own for a file it keeps.
    if (!/^[a-z]+:/i.test(fileUri)) return false;
    return !Object.entries(supported)
      .filter(([type]) => ['*', '*/*', mimeType, mimeType.replace(/\/.*/, '/*')].includes(type))
      .some(([, patterns]) => patterns.some((pattern) => pattern.test(fileUri)));
  });
}
