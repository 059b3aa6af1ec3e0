import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, isJsonObject, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import {
  inferProvider,
  isProviderName,
  PROVIDER_NAMES,
  type ProviderName,
} from './provider-name.ts';

/** Names a model: by its name (`gemini-2.5-flash`), or in full. */
export type ModelRef = string | ModelSpec | NestedModelSpec;

/**
 * A model in full: its provider, address and key. Missing members are read from the environment or
 * are the provider's defaults.
 */
export type ModelSpec = {
  readonly provider: ProviderName;
  readonly model: string;
  /** The base of the provider's endpoints, including the version. */
  readonly baseUrl?: string;
  /** Prefer the environment. */
  readonly apiKey?: string;
  /** `fast` or `balanced`. Default: `balanced`. */
  readonly speed?: string;
  /** The API of OpenAI to use. Default: `responses`. */
  readonly api?: 'responses' | 'chat';
};

/** The nested spelling of a `ModelSpec`. */
export type NestedModelSpec = {
  readonly provider: ProviderName;
  readonly model: {
    readonly model: string;
    readonly base_url?: string;
    readonly api_key?: string;
  };
  readonly speed?: string;
};

/** The members of a reference in all spellings. */
export const MODEL_REFERENCE: OptionTable = optionTable<
  Record<'provider' | 'speed' | 'api' | Address, unknown> & {
    model: Record<'model' | Address, unknown>;
  }
>('model', {
  provider: true,
  model: { model: true, baseUrl: true, base_url: true, apiKey: true, api_key: true },
  baseUrl: true,
  base_url: true,
  apiKey: true,
  api_key: true,
  speed: true,
  api: true,
});

type Address = 'baseUrl' | 'base_url' | 'apiKey' | 'api_key';

/**
 * Parses a reference in either spelling, snake case or camel case.
 * @throws InvalidInputError with the field
 * @throws UnknownModelError if the provider of a model name is unknown
 */
export function parseModelRef(ref: unknown): ModelSpec {
  if (typeof ref === 'string') return { provider: inferProvider(ref), model: ref };
  if (!isJsonObject(ref)) {
    throw new InvalidInputError('model', 'must be a name, or { provider, model }.');
  }
  checkOptions(MODEL_REFERENCE, ref);
  const provider = parseProvider(ref['provider']);
  const inner = isJsonObject(ref['model']) ? ref['model'] : ref;
  const member = (camel: string, snake: string): string | undefined =>
    parseText(inner[camel] ?? inner[snake] ?? ref[camel] ?? ref[snake], camel);
  const model = parseText(inner['model'], 'model');
  if (model === undefined) throw new InvalidInputError('model.model', 'must be a name.');
  const baseUrl = member('baseUrl', 'base_url');
  const apiKey = member('apiKey', 'api_key');
  const speed = parseSpeed(ref['speed']);
  const api = parseApi(ref['api'], provider);
  return {
    provider,
    model,
    ...omitUndefined({
      baseUrl: baseUrl === undefined ? undefined : parseBaseUrl(baseUrl),
      apiKey,
      speed,
      api,
    }),
  };
}

function parseProvider(value: unknown): ProviderName {
  const name = typeof value === 'string' ? value.replaceAll('-', '_') : value;
  if (isProviderName(name)) return name;
  const known = PROVIDER_NAMES.join(', ');
  throw new InvalidInputError('model.provider', `must be one of ${known}.`);
}

function parseText(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  // The value is not shown, because it may be a key.
  throw new InvalidInputError(`model.${field}`, 'must be a non-empty string.');
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  const isAddress = url !== null && /^https?:$/.test(url.protocol);
  // The URL is not shown, because one with a password is a secret.
  if (isAddress && (url.username !== '' || url.password !== '')) {
    throw new InvalidInputError(
      'model.baseUrl',
      'must not contain a user name or password: use apiKey.',
    );
  }
  if (isAddress) return text.replace(/\/+$/, '');
  throw new InvalidInputError('model.baseUrl', 'must be an http or https URL.');
}

function parseSpeed(value: unknown): 'fast' | 'balanced' | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'fast' || value === 'balanced') return value;
  if (value === 'standard') return 'balanced';
  throw new InvalidInputError('model.speed', 'must be fast or balanced.');
}

function parseApi(value: unknown, provider: ProviderName): ModelSpec['api'] {
  if (value === undefined || value === null) return undefined;
  if (provider !== 'openai')
    throw new InvalidInputError('model.api', 'is allowed for the provider openai only.');
  if (value === 'responses' || value === 'chat') return value;
  throw new InvalidInputError('model.api', 'must be responses or chat.');
}
