import { PetrichorError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import type { ResolveHost } from '../egress/resolve-allowed-address.ts';
import { fetchWithinOrigin } from '../egress/fetch-within-origin.ts';
import { aiSdkModel } from './ai-sdk-model.ts';
import {
  CONTEXT_CACHE_NAMES,
  contextCachingFetch,
  type ContextCacheConfig,
} from './provider/gemini-context-cache.ts';
import type { LanguageModel } from './provider/language-model.ts';
import { modelAccess, type ModelAccess, type ModelEnv } from './reference/model-access.ts';
import { abortedError, ModelError } from './model/model-error.ts';
import { parseModelRef, type ModelRef } from './reference/model-ref.ts';
import type { Model } from './model/model.ts';
import type { ProviderName } from './reference/provider-name.ts';
import { loadProvider } from './reference/load-provider.ts';
import { getProviderProfile } from './provider/provider-profile.ts';
import { createRedactor } from './response/redact.ts';
import { raceWithAbort } from './model/race-with-abort.ts';
import { UnsupportedFeatureError } from './model/unsupported-feature-error.ts';

/** Where the key and the address of a model come from, and how its provider is reached. */
export interface ResolveModelOptions {
  /**
   * Where keys and addresses are looked up: `process.env`, for a program. A key found here is sent to the provider's own
   * origin and to that of its `…_BASE_URL`, to no other.
   */
  readonly env?: ModelEnv;
  /**
   * Origins that the reference's `baseUrl` may be at, where the reference comes from somebody else:
   * `http://127.0.0.1:11434`, or `https://*.example.com` for public addresses. Default: any origin, because a program
   * writes its own references.
   */
  readonly modelOrigins?: readonly string[];
  /** Resolves the names that only a pattern of `modelOrigins` allows. Default: the system's resolver. */
  readonly resolve?: ResolveHost;
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

/** The options of `resolveModel`. */
export const RESOLVE_MODEL_OPTIONS: OptionTable = optionTable<ResolveModelOptions>('resolveModel', {
  env: true,
  modelOrigins: true,
  resolve: true,
  apiKey: true,
  fetch: true,
  contextCache: CONTEXT_CACHE_NAMES,
  now: true,
  name: true,
});

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

  constructor(model: string, provider: ProviderName, access: MissingKeyFacts) {
    const { keyVariables, keyOrigins, baseUrl } = access;
    const origin = URL.parse(baseUrl)?.origin ?? '';
    const variables = keyVariables.join(' or ');
    super(
      keyOrigins.includes(origin)
        ? `Model "${model}" needs a key of ${provider}: set ${variables} and pass ` +
            '{ env: process.env }, or pass { apiKey: () => key }.'
        : `Model "${model}" needs a key for ${origin}. A key in ${variables} is sent only to ` +
            `${keyOrigins.join(' and ')}: pass { apiKey: () => key }, or set the base URL in the environment too.`,
    );
    this.provider = provider;
    this.variables = keyVariables;
  }
}

type MissingKeyFacts = Pick<ModelAccess, 'baseUrl' | 'keyOrigins' | 'keyVariables'>;

/**
 * Makes a model from its name or its place. Its provider package is loaded now, so what is missing is known now.
 * The model shows no key: not printed, not as JSON, not in an error.
 * @throws UnknownModelError, InvalidInputError, MissingPackageError, MissingKeyError, MissingBaseUrlError,
 * UnsupportedFeatureError
 */
export async function resolveModel(
  ref: ModelRef,
  options: ResolveModelOptions = {},
): Promise<Model> {
  checkOptions(RESOLVE_MODEL_OPTIONS, options);
  const spec = parseModelRef(ref);
  const { provider, model } = spec;
  const { env = {}, name = `${provider}/${model}` } = options;
  const access = modelAccess(spec, env, options.modelOrigins);
  const { baseUrl, key: fixedKey, needsKey } = access;
  const fetch = await fetchFor(access, options);
  if (fixedKey === undefined && options.apiKey === undefined && needsKey) {
    throw new MissingKeyError(model, provider, access);
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
  const make = await loadProvider(spec);
  const createWithKey = (apiKey: string | undefined): LanguageModel =>
    make({ baseUrl, apiKey, fetch: send });
  if (spec.speed === 'fast' && getProviderProfile(createWithKey('')).unsupported.has('speed')) {
    throw new UnsupportedFeatureError(name, 'speed');
  }
  const getKey = async (signal: AbortSignal): Promise<string | undefined> => {
    const callerKey = await options.apiKey?.(provider, { model, baseUrl, signal });
    const key = callerKey === '' ? undefined : (callerKey ?? fixedKey);
    if (key !== undefined || !needsKey) return key;
    throw new MissingKeyError(model, provider, access);
  };
  const keyed = keyedModel(name, getKey, createWithKey);
  return spec.speed === 'fast' ? fastModel(keyed) : keyed;
}

/** Asks for the key before each call, and makes the model anew when it changed. */
function keyedModel(
  name: string,
  getKey: (signal: AbortSignal) => Promise<string | undefined>,
  createWithKey: (apiKey: string | undefined) => LanguageModel,
): Model {
  let made: { readonly key: string | undefined; readonly model: Model } | undefined;
  return {
    name,
    generate: async (request, context) => {
      const { signal } = context;
      const key = await raceWithAbort(getKey(signal), signal).catch((error: unknown) => {
        if (signal.aborted) throw abortedError(name);
        const why = error instanceof Error ? error.message : 'it failed.';
        throw new ModelError({ model: name, kind: 'auth', message: `no key: ${why}` });
      });
      if (made === undefined || made.key !== key) {
        const redact = createRedactor(key === undefined ? [] : [key]);
        made = { key, model: aiSdkModel(createWithKey(key), { name, redact }) };
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

async function fetchFor(
  { publicOnly }: ModelAccess,
  { fetch = globalThis.fetch, resolve }: ResolveModelOptions,
): Promise<typeof globalThis.fetch> {
  if (!publicOnly) return fetchWithinOrigin(fetch);
  // Loaded here, so that a program that never needs them does not load Node's own clients.
  const { egressFetch, egressRule } = await import('../egress/index.ts');
  return egressFetch(
    egressRule({ isTrusted: () => false, ...(resolve !== undefined && { resolve }) }),
  );
}
