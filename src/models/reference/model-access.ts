import { InvalidInputError, PetrichorError } from '../../core/index.ts';
import { parseOrigins } from '../../egress/parse-origins.ts';
import { parseModelRef, type ModelSpec, type ModelRef } from './model-ref.ts';
import type { ProviderName } from './provider-name.ts';

/** Variables by name: `process.env`, for a program. */
export type ModelEnv = Readonly<Record<string, string | undefined>>;

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

/** Where a model is, and which key may go there. */
export interface ModelAccess {
  readonly baseUrl: string;
  /** The key of the reference itself, or that of the environment where it belongs to this origin. */
  readonly key: string | undefined;
  readonly needsKey: boolean;
  readonly keyVariables: readonly string[];
  /** The origins that a key of the environment belongs to. */
  readonly keyOrigins: readonly string[];
  /** Only a pattern of the operator allows this origin: it is asked at a public address only, with TLS. */
  readonly publicOnly: boolean;
}

/**
 * Finds where a model is. A key of the environment belongs to two origins: the provider's own, and the one that the
 * provider's `…_BASE_URL` names. It is given to no other.
 * With `origins`, a base URL in the reference must be at one of them, or be one of these two.
 * @throws MissingBaseUrlError, InvalidInputError for `model.base_url`
 */
export function modelAccess(
  spec: ModelSpec,
  env: ModelEnv,
  origins?: readonly string[],
): ModelAccess {
  const { provider, model } = spec;
  const { baseUrl: own, baseUrlVariables, keyVariables, needsKey } = DEFAULTS[provider];
  const configured = firstSet(env, baseUrlVariables);
  const baseUrl = spec.baseUrl ?? configured ?? own;
  if (baseUrl === undefined) throw new MissingBaseUrlError(model);
  const keyOrigins = [own, configured].flatMap((url) => parseOrigin(url) ?? []);
  const origin = parseOrigin(baseUrl);
  const belongs = origin !== undefined && keyOrigins.includes(origin);
  const key = spec.apiKey ?? (belongs ? firstSet(env, keyVariables) : undefined);
  const isChosen = spec.baseUrl !== undefined && ![own, configured].includes(spec.baseUrl);
  const publicOnly =
    isChosen && origins !== undefined && originVerdict(baseUrl, origins) === 'public';
  return { baseUrl, key, needsKey, keyVariables, keyOrigins, publicOnly };
}

/**
 * Checks that a reference names no base URL outside the operator's list. The provider's own base URL, and the one that
 * the environment names for it, need not be on the list.
 * @throws InvalidInputError for `model.base_url`, UnknownModelError
 */
export function checkModelOrigin(ref: ModelRef, env: ModelEnv, origins: readonly string[]): void {
  const spec = parseModelRef(ref);
  if (spec.baseUrl !== undefined) modelAccess(spec, env, origins);
}

/**
 * Checks a reference that a caller of a server chose: as `checkModelOrigin`, and a provider whose own address is on the
 * server's machine, such as Ollama, must be on the operator's list as well.
 * @throws InvalidInputError for `model` or `model.base_url`, UnknownModelError
 */
export function checkCallerModel(ref: ModelRef, origins: readonly string[]): void {
  checkModelOrigin(ref, {}, origins);
  const { provider, baseUrl } = parseModelRef(ref);
  const own = new URL(DEFAULTS[provider].baseUrl ?? 'https://none.invalid');
  if (baseUrl !== undefined || own.protocol === 'https:') return;
  if (parseOrigins(origins, 'modelOrigins')(own) === 'unlisted')
    throw new InvalidInputError(
      'model',
      `is on the server's own machine, at ${own.origin}, which the operator does not list. Choose another model, or ask ` +
        `the operator to allow it: petrichor serve --model-origin ${own.origin}, or modelOrigins of createServer.`,
    );
}

function originVerdict(baseUrl: string, origins: readonly string[]): 'named' | 'public' {
  const url = new URL(baseUrl);
  const verdict = parseOrigins(origins, 'modelOrigins')(url);
  if (verdict === 'unlisted') throw new ModelOriginError(url.origin);
  return verdict;
}

/** A definition names a base URL at an origin that the operator did not list. Nothing was sent there. */
class ModelOriginError extends InvalidInputError {
  constructor(origin: string) {
    super(
      'model.base_url',
      `is at ${origin}, which the operator of this server does not list. Leave base_url out, or ask the operator to ` +
        'list the origin: modelOrigins of openManagedRuntime and createServer, or --model-origin of petrichor serve.',
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
