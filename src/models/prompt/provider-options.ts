import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { Feature } from '../provider/feature.ts';
import {
  providerFamily,
  type ModelCallOptions,
  type LanguageModel,
  type ProviderOptions,
} from '../provider/language-model.ts';
import type { GenerationConfig } from '../model/model.ts';
import { OPTION_NAMES, getProviderProfile } from '../provider/provider-profile.ts';

/**
 * Merges derived options with the caller's, which take precedence, under the names that the
 * packages read.
 */
export function toProviderOptions(
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
    ...omitUndefined({
      strictJsonSchema: strict !== undefined && hasStrictOption ? strict : undefined,
    }),
  };
  const callerOptions: ProviderOptions = config.providerOptions ?? {};
  const names = optionNames(providerFamily(model));
  // A package reads the first of its names that is present, so each of them gets all options.
  const own = Object.assign({}, derived, ...names.toReversed().map((name) => callerOptions[name]));
  const family = providerFamily(model);
  const merged = {
    ...callerOptions,
    [family]: { ...familyOptions, ...callerOptions[family] },
    ...Object.fromEntries(names.map((name) => [name, own])),
  };
  const nonEmpty = Object.entries(merged).filter(([, values]) => Object.keys(values).length > 0);
  return nonEmpty.length === 0 ? {} : { providerOptions: Object.fromEntries(nonEmpty) };
}

interface StrayOptions {
  /** The names that the package reads. */
  readonly read: readonly string[];
  /** Names that no package reads. */
  readonly misnamed: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Provider options that this model does not read. Those for another provider become warnings; those
 * for none are misspelled.
 */
export function findStrayOptions(
  model: LanguageModel,
  { providerOptions = {} }: GenerationConfig,
): StrayOptions {
  const { optionNames, aliases } = getProviderProfile(model);
  const family = providerFamily(model);
  const read = [...new Set([...optionNames(family), ...(aliases?.(family) ?? [])])];
  const camel = family.replaceAll(/[-_]+(\w)/g, (_, char: string) => char.toUpperCase());
  const stray = Object.keys(providerOptions).filter((name) => ![...read, camel].includes(name));
  // The names that an unknown package reads are unknown, too.
  const misnamed = aliases === undefined ? [] : stray.filter((name) => !OPTION_NAMES.has(name));
  const warnings = stray
    .filter((name) => !misnamed.includes(name))
    .map((name) => `providerOptions.${name}: this model reads ${read.join(', ')}`);
  return { read, misnamed, warnings };
}

/** The configuration without the features that the provider cannot express. */
export function omitFeatures(
  config: GenerationConfig,
  features: ReadonlySet<Feature>,
): GenerationConfig {
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
