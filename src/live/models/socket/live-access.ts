import { InvalidInputError } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { egressRule, type ResolveHost } from '../../../egress/index.ts';
import {
  MissingKeyError,
  ModelError,
  type KeyedCall,
  type ModelEnv,
} from '../../../models/index.ts';
import { raceWithAbort } from '../../../models/internal.ts';
import { modelAccess } from '../../../models/reference/model-address-and-key.ts';

/** Where a live model is, and the key for it. */
export type LiveAccessOptions = {
  /** The provider's name of the model. */
  readonly model: string;
  /**
   * The base URL of the provider's API, with `https:` or `http:`. Default: the provider's own host,
   * or the `…_BASE_URL` variable of `env`.
   */
  readonly baseUrl?: string;
  /** The key, or a function that returns it for each connection. Default: the key in `env`. */
  readonly apiKey?:
    | string
    | ((call: KeyedCall) => string | undefined | Promise<string | undefined>);
  /**
   * The environment variables for keys and addresses, usually `process.env`. A key found here is
   * sent only to the provider's own origin and to that of its `…_BASE_URL` variable. Default: none.
   */
  readonly env?: ModelEnv;
  /**
   * The origins that `baseUrl` may have, if it comes from a third party. An origin that only a
   * pattern allows must have a public address and TLS. Default: any origin, because a program
   * writes its own base URL.
   */
  readonly modelOrigins?: readonly string[];
  /** Resolves host names that only a pattern of `modelOrigins` allows. Default: the resolver of the system. */
  readonly resolve?: ResolveHost;
};

/** An address that may be connected to now, and the key that may be sent there. */
export interface LiveAccess {
  readonly baseUrl: URL;
  /** Connect to this address only, if set. */
  readonly address?: string;
  readonly key: string;
}

/**
 * Finds the address and the key of a live model, for one connection.
 * @throws MissingKeyError, InvalidInputError, ModelError
 */
export async function resolveLiveAccess(
  provider: 'gemini' | 'openai',
  name: string,
  options: LiveAccessOptions,
  signal: AbortSignal,
): Promise<LiveAccess> {
  const { model, apiKey, env = {}, modelOrigins, resolve } = options;
  const fixedKey = typeof apiKey === 'string' ? apiKey : undefined;
  const spec = {
    provider,
    model,
    ...omitUndefined({ baseUrl: options.baseUrl, apiKey: fixedKey }),
  };
  const access = modelAccess(spec, env, modelOrigins);
  const baseUrl = URL.parse(access.baseUrl);
  if (baseUrl === null || !/^https?:$/.test(baseUrl.protocol) || baseUrl.username !== '') {
    throw new InvalidInputError('baseUrl', 'must be an http or https URL without credentials.');
  }
  const given =
    typeof apiKey === 'function'
      ? await callForKey(name, () => apiKey({ model, baseUrl: access.baseUrl, signal }), signal)
      : undefined;
  const key = given ?? access.key;
  if (key === undefined || key === '') throw new MissingKeyError(model, provider, access);
  if (!access.publicOnly) return { baseUrl, key };
  const rule = egressRule({ isTrusted: () => false, ...omitUndefined({ resolve }) });
  return { baseUrl, key, address: await withAbort(name, rule(baseUrl), signal) };
}

/** Awaits a value, and rejects with a ModelError when the signal aborts. */
async function withAbort<T>(model: string, awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await raceWithAbort(awaited, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new ModelError({ model, kind: 'aborted', message: 'the call was aborted.' });
  }
}

async function callForKey(
  model: string,
  getKey: () => string | undefined | Promise<string | undefined>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await withAbort(model, Promise.resolve(getKey()), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = error instanceof Error ? error.message : 'it failed.';
    throw new ModelError({ model, kind: 'auth', message: `apiKey() failed: ${reason}` });
  }
}
