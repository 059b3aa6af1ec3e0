import { InvalidInputError, PetrichorError } from '../../core/index.ts';
import { parseOrigins } from '../../egress/internal.ts';
import type { ModelSpec } from './model-ref.ts';
import type { ProviderName } from './provider-name.ts';

/** Environment variables by name, usually `process.env`. */
export type ModelEnv = Readonly<Record<string, string | undefined>>;

/**
 * A model on an OpenAI-compatible server has no base URL.
 * @remedy Pass `baseUrl`, or set `OPENAI_COMPATIBLE_BASE_URL`.
 */
export class MissingBaseUrlError extends PetrichorError {
  override readonly code = 'missing_base_url' as const;

  constructor(model: string) {
    super(
      `Model "${model}" is on an OpenAI-compatible server: set its address as baseUrl or in ` +
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

export const PROVIDER_DEFAULTS: Readonly<Record<ProviderName, ProviderDefaults>> = {
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

/** The address of a model, and the key that may be sent there. */
export interface ModelAccess {
  readonly baseUrl: string;
  /** The key of the reference, or the key of the environment if that belongs to this origin. */
  readonly key: string | undefined;
  readonly needsKey: boolean;
  readonly keyVariables: readonly string[];
  /** The origins to which a key of the environment belongs. */
  readonly keyOrigins: readonly string[];
  /**
   * True if only a pattern of the operator allows this origin. Then it must have a public address
   * and TLS.
   */
  readonly publicOnly: boolean;
}

/**
 * Resolves the address of a model. A key of the environment belongs to two origins: the provider's
 * own, and that of the provider's `…_BASE_URL` variable. It is sent to no other. With `origins`, a
 * base URL in the reference must be at one of them, or be one of these two.
 * @throws MissingBaseUrlError if there is no base URL
 * @throws InvalidInputError for `model.base_url`, if its origin is not allowed
 */
export function modelAccess(
  spec: ModelSpec,
  env: ModelEnv,
  origins?: readonly string[],
): ModelAccess {
  const { provider, model } = spec;
  const {
    baseUrl: defaultUrl,
    baseUrlVariables,
    keyVariables,
    needsKey,
  } = PROVIDER_DEFAULTS[provider];
  const configured = firstSet(env, baseUrlVariables);
  const baseUrl = spec.baseUrl ?? configured ?? defaultUrl;
  if (baseUrl === undefined) throw new MissingBaseUrlError(model);
  const keyOrigins = [defaultUrl, configured].flatMap((url) => parseOrigin(url) ?? []);
  const origin = parseOrigin(baseUrl);
  const ownsKey = origin !== undefined && keyOrigins.includes(origin);
  const key = spec.apiKey ?? (ownsKey ? firstSet(env, keyVariables) : undefined);
  const isChosen = spec.baseUrl !== undefined && ![defaultUrl, configured].includes(spec.baseUrl);
  const publicOnly =
    isChosen && origins !== undefined && originVerdict(baseUrl, origins) === 'public';
  return { baseUrl, key, needsKey, keyVariables, keyOrigins, publicOnly };
}

function originVerdict(baseUrl: string, origins: readonly string[]): 'named' | 'public' {
  const url = new URL(baseUrl);
  const verdict = parseOrigins(origins, 'modelOrigins')(url);
  if (verdict === 'unlisted') throw new ModelOriginError(url.origin);
  return verdict;
}

/**
 * A definition has a base URL at an origin that the operator did not allow. Nothing was sent there.
 * @remedy Remove `base_url`, or allow the origin: `modelOrigins`, or `--model-origin` of `petrichor serve`.
 */
class ModelOriginError extends InvalidInputError {
  constructor(origin: string) {
    super(
      'model.base_url',
      `is at ${origin}, which the operator of this server does not allow. Remove base_url, or ask the operator to ` +
        'allow the origin: modelOrigins of openManagedRuntime and createServer, or --model-origin of petrichor serve.',
    );
  }
}

function parseOrigin(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.origin;
}

function firstSet(env: ModelEnv, variables: readonly string[]): string | undefined {
  return variables
    .map((variable) => env[variable])
    .find((value) => value !== undefined && value !== '');
}
