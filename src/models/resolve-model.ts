import { PetrichorError } from '../core/index.ts';
import { aiSdkModel } from './ai-sdk-model.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import { contextCachingFetch, type ContextCacheConfig } from './gemini-context-cache.ts';
import type { LanguageModel } from './language-model.ts';
import { abortedCall, ModelError } from './model-error.ts';
import { parseModelRef, type ModelRef } from './model-ref.ts';
import type { Model } from './model.ts';
import type { ProviderName } from './provider-name.ts';
import { loadProvider } from './provider-packages.ts';
import { profileOf } from './provider-profile.ts';
import { redactorOf } from './redact.ts';
import { unlessAborted } from './unless-aborted.ts';
import { UnsupportedFeatureError } from './unsupported-feature-error.ts';

/** Where the key and the address of a model come from, and how its provider is reached. */
export interface ResolveModelOptions {
  /** Where keys and addresses are looked up: `process.env`, for a program. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gives the key before each call, so that it may change meanwhile. It comes before `env`. */
  readonly apiKey?: (
    provider: ProviderName,
    call: KeyedCall,
  ) => string | undefined | Promise<string | undefined>;
  /** The global one unless given. No redirect is followed to another origin. */
  readonly fetch?: typeof globalThis.fetch;
  /** Gemini only: keeps the instruction and the tools there, for several calls. */
  readonly contextCache?: ContextCacheConfig;
  /** Epoch milliseconds; the system's clock when missing. */
  readonly now?: () => number;
  /** How the log and errors name the model; `provider/model` when missing. */
  readonly name?: string;
}

/** The call that a key is for. */
export interface KeyedCall {
  readonly model: string;
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

/** The provider wants a key and none was found. Set one of the variables, or pass a key. */
export class MissingKeyError extends PetrichorError {
  override readonly code = 'missing_key' as const;
  readonly provider: ProviderName;
  readonly variables: readonly string[];

  constructor(model: string, provider: ProviderName, variables: readonly string[]) {
    super(
      `Model "${model}" needs a key of ${provider}: set ${variables.join(' or ')} and pass ` +
        '{ env: process.env }, or pass { apiKey: () => key }.',
    );
    this.provider = provider;
    this.variables = variables;
  }
}

/** The server has no address of its own, and none was given. */
export class MissingBaseUrlError extends PetrichorError {
  override readonly code = 'missing_base_url' as const;

  constructor(model: string) {
    super(
      `Model "${model}" is on an OpenAI-compatible server: say where, as baseUrl or in ` +
        'OPENAI_COMPATIBLE_BASE_URL, for example http://127.0.0.1:8000/v1.',
    );
  }
}

interface ProviderDefaults {
  readonly baseUrl: string | undefined;
  readonly baseUrlVariables: readonly string[];
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
}

const DEFAULTS: Readonly<Record<ProviderName, ProviderDefaults>> = {
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    baseUrlVariables: ['GEMINI_BASE_URL'],
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    needsKey: true,
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariables: ['OPENAI_BASE_URL'],
    keyVariables: ['OPENAI_API_KEY'],
    needsKey: true,
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    baseUrlVariables: ['ANTHROPIC_BASE_URL'],
    keyVariables: ['ANTHROPIC_API_KEY'],
    needsKey: true,
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    baseUrlVariables: ['OLLAMA_BASE_URL'],
    keyVariables: ['OLLAMA_API_KEY'],
    needsKey: false,
  },
  openai_compatible: {
    baseUrl: undefined,
    baseUrlVariables: ['OPENAI_COMPATIBLE_BASE_URL'],
    keyVariables: ['OPENAI_COMPATIBLE_API_KEY'],
    needsKey: false,
  },
};

/**
 * Makes a model from its name or its place. Its provider package is loaded now, so what is missing is known now.
 * The model shows no key: not printed, not as JSON, not in an error.
 * @throws UnknownModelError, InvalidInputError, MissingPackageError, MissingKeyError, MissingBaseUrlError, UnsupportedFeatureError
 */
export async function resolveModel(
  ref: ModelRef,
  options: ResolveModelOptions = {},
): Promise<Model> {
  const place = parseModelRef(ref);
  const { provider, model } = place;
  const { env = {}, name = `${provider}/${model}` } = options;
  const fetch = fetchWithinOrigin(options.fetch ?? globalThis.fetch);
  const defaults = DEFAULTS[provider];
  const baseUrl = place.baseUrl ?? firstSet(env, defaults.baseUrlVariables) ?? defaults.baseUrl;
  if (baseUrl === undefined) throw new MissingBaseUrlError(model);
  const fixedKey = place.apiKey ?? firstSet(env, defaults.keyVariables);
  if (fixedKey === undefined && options.apiKey === undefined && defaults.needsKey) {
    throw new MissingKeyError(model, provider, defaults.keyVariables);
  }
  if (options.contextCache !== undefined && provider !== 'gemini') {
    throw new UnsupportedFeatureError(name, 'contextCache');
  }
  const send =
    options.contextCache === undefined
      ? fetch
      : contextCachingFetch({
          config: options.contextCache,
          baseUrl,
          model,
          fetch,
          now: options.now ?? Date.now,
        });
  const make = await loadProvider(place);
  const at = (apiKey: string | undefined): LanguageModel => make({ baseUrl, apiKey, fetch: send });
  if (place.speed === 'fast' && profileOf(at('')).lacks.has('speed')) {
    throw new UnsupportedFeatureError(name, 'speed');
  }
  const keyNow = async (signal: AbortSignal): Promise<string | undefined> => {
    const given = await options.apiKey?.(provider, { model, baseUrl, signal });
    const key = given === '' ? undefined : (given ?? fixedKey);
    if (key !== undefined || !defaults.needsKey) return key;
    throw new MissingKeyError(model, provider, defaults.keyVariables);
  };
  const keyed = keyedModel(name, keyNow, at);
  return place.speed === 'fast' ? fastModel(keyed) : keyed;
}

/** Asks for the key before each call, and makes the model anew when it changed. */
function keyedModel(
  name: string,
  keyNow: (signal: AbortSignal) => Promise<string | undefined>,
  at: (apiKey: string | undefined) => LanguageModel,
): Model {
  let made: { readonly key: string | undefined; readonly model: Model } | undefined;
  return {
    name,
    generate: async (request, context) => {
      const { signal } = context;
      const key = await unlessAborted(keyNow(signal), signal).catch((error: unknown) => {
        if (signal.aborted) throw abortedCall(name);
        const why = error instanceof Error ? error.message : 'it failed.';
        throw new ModelError({ model: name, kind: 'auth', message: `no key: ${why}` });
      });
      if (made === undefined || made.key !== key) {
        const redact = redactorOf(key === undefined ? [] : [key]);
        made = { key, model: aiSdkModel(at(key), { name, redact }) };
      }
      return made.model.generate(request, context);
    },
  };
}

function fastModel({ name, generate }: Model): Model {
  return {
    name,
    generate: (request, context) =>
      generate({ ...request, config: { speed: 'fast', ...request.config } }, context),
  };
}

function firstSet(
  env: Readonly<Record<string, string | undefined>>,
  variables: readonly string[],
): string | undefined {
  return variables
    .map((variable) => env[variable])
    .find((value) => value !== undefined && value !== '');
}
