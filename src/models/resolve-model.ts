import { omitUndefined } from '../core/internal.ts';
import { PetrichorError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import type { ResolveHost } from '../egress/index.ts';
import { fetchWithinOrigin, parseOrigins } from '../egress/internal.ts';
import { aiSdkModel } from './ai-sdk-model.ts';
import {
  CONTEXT_CACHE_NAMES,
  contextCachingFetch,
  type ContextCacheConfig,
} from './provider/gemini-context-cache.ts';
import type { LanguageModel } from './provider/language-model.ts';
import { modelAccess, type ModelAccess, type ModelEnv } from './reference/model-address-and-key.ts';
import { abortedError, ModelError } from './model/model-error.ts';
import { parseModelRef, type ModelRef } from './reference/model-ref.ts';
import type { Model } from './model/model.ts';
import type { ProviderName } from './reference/provider-name.ts';
import { loadProvider } from './reference/load-provider.ts';
import { getProviderProfile } from './provider/provider-profile.ts';
import { createRedactor } from './response/redact.ts';
import { raceWithAbort } from './model/race-with-abort.ts';
import { UnsupportedFeatureError } from './model/unsupported-feature-error.ts';

/** Where keys and addresses of a model come from, and how its provider is reached. */
export interface ResolveModelOptions {
  /**
   * The environment variables for keys and addresses, usually `process.env`. A key found here is
   * sent only to the provider's own origin and to that of its `…_BASE_URL` variable. Default: none.
   */
  readonly env?: ModelEnv;
  /**
   * The origins that the `baseUrl` of a reference may have, if the reference comes from a third
   * party: `http://127.0.0.1:11434`, or `https://*.example.com` for public addresses. Default: any
   * origin, because a program writes its own references.
   */
  readonly modelOrigins?: readonly string[];
  /**
   * Resolves host names that only a pattern of `modelOrigins` allows. Default: the resolver of the
   * system.
   */
  readonly resolve?: ResolveHost;
  /** Returns the key before each call, so a key can be rotated. It takes precedence over `env`. */
  readonly apiKey?: (
    provider: ProviderName,
    call: KeyedCall,
  ) => string | undefined | Promise<string | undefined>;
  /** Default: the global `fetch`. Redirects to another origin are not followed. */
  readonly fetch?: typeof globalThis.fetch;
  /** Gemini only: caches the instruction and the tools at Gemini for several calls. */
  readonly contextCache?: ContextCacheConfig;
  /** The time in epoch milliseconds. Default: the system clock. */
  readonly now?: () => number;
  /** The name of the model in the log and in errors. Default: `provider/model`. */
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

/**
 * The provider requires a key, and none was found. A key from the environment is not sent to another origin than the
 * one that it belongs to.
 * @remedy Set one of `variables` and pass `{ env: process.env }`, or pass `{ apiKey: () => key }`.
 */
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
 * Creates a model from a reference. The provider package is loaded now, so missing packages and
 * keys are reported now. The model never shows a key: not when printed, not as JSON, not in an
 * error.
 * @throws UnknownModelError if the provider of a model name is unknown
 * @throws InvalidInputError for an invalid reference or a base URL that is not allowed
 * @throws MissingPackageError, MissingKeyError, MissingBaseUrlError
 * @throws UnsupportedFeatureError for `contextCache` or `speed` on a provider without it
 */
export async function resolveModel(
  ref: ModelRef,
  options: ResolveModelOptions = {},
): Promise<Model> {
  checkOptions(RESOLVE_MODEL_OPTIONS, options);
  // Also without a base URL: a list that is wrong is refused before a reference uses it.
  parseOrigins(options.modelOrigins ?? [], 'modelOrigins');
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
  const makeModel = await loadProvider(spec);
  const createWithKey = (apiKey: string | undefined): LanguageModel =>
    makeModel({ baseUrl, apiKey, fetch: send });
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

/** Gets the key before each call, and creates the model again if it changed. */
function keyedModel(
  name: string,
  getKey: (signal: AbortSignal) => Promise<string | undefined>,
  createWithKey: (apiKey: string | undefined) => LanguageModel,
): Model {
  let current: { readonly key: string | undefined; readonly model: Model } | undefined;
  return {
    name,
    generate: async (request, context) => {
      const { signal } = context;
      const key = await raceWithAbort(getKey(signal), signal).catch((error: unknown) => {
        if (signal.aborted) throw abortedError(name);
        const reason = error instanceof Error ? error.message : 'it failed.';
        throw new ModelError({ model: name, kind: 'auth', message: `apiKey() failed: ${reason}` });
      });
      if (current === undefined || current.key !== key) {
        const redact = createRedactor(key === undefined ? [] : [key]);
        current = { key, model: aiSdkModel(createWithKey(key), { name, redact }) };
      }
      return current.model.generate(request, context);
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
  // Imported here, so that programs that do not need it do not load Node's HTTP clients.
  const { egressFetch, egressRule } = await import('../egress/index.ts');
  return egressFetch(egressRule({ isTrusted: () => false, ...omitUndefined({ resolve }) }));
}
