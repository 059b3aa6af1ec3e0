import { canonicalJson, InvalidInputError, isJsonObject, sha256Hex } from '../../core/index.ts';
import type { JsonObject, OptionNames } from '../../core/index.ts';

/** Keeps instruction and tools at Gemini's, so that a long one is sent and paid once and not with every call. */
export type ContextCacheConfig = {
  /** Invocations that use one cache before it is made anew: 1 to 100, 10 when missing. */
  readonly cacheIntervals?: number;
  /** How long Gemini keeps it: above 0, 1800 when missing. */
  readonly ttlSeconds?: number;
  /** Below this many tokens, by estimate, nothing is cached: 0 when missing. */
  readonly minTokens?: number;
};

export const CONTEXT_CACHE_NAMES: OptionNames<ContextCacheConfig> = {
  cacheIntervals: true,
  ttlSeconds: true,
  minTokens: true,
};

export interface ContextCacheOptions {
  readonly config: ContextCacheConfig;
  readonly baseUrl: string;
  readonly model: string;
  readonly fetch: typeof globalThis.fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

interface Cached {
  readonly name: string;
  readonly expiresAt: number;
  usesLeft: number;
}

const CACHED_FIELDS: readonly string[] = ['systemInstruction', 'tools', 'toolConfig'];
const CHARACTERS_PER_TOKEN = 4;

/**
 * A `fetch` for Gemini's package that puts what stays the same into a cached content of Gemini's, and refers to it. A
 * cache that cannot be made, or is gone, costs money and not the answer: the request then goes out whole.
 * @throws InvalidInputError when the configuration is out of its ranges.
 */
export function contextCachingFetch(options: ContextCacheOptions): typeof globalThis.fetch {
  const { config, baseUrl, model, fetch, now } = options;
  const { cacheIntervals, ttlSeconds, minTokens } = withDefaults(config);
  // By what is kept. Nothing there: Gemini refused it, and would again.
  const caches = new Map<string, Promise<Cached | undefined>>();

  return async (input, init) => {
    const body = parseBody(init);
    const kept = body === undefined ? {} : pick(body, CACHED_FIELDS);
    const size = JSON.stringify(kept).length / CHARACTERS_PER_TOKEN;
    if (body === undefined || Object.keys(kept).length === 0 || size < minTokens) {
      return fetch(input, init);
    }
    const id = sha256Hex(canonicalJson(kept));
    const cached = await cacheFor(id, kept, beginsInvocation(body), init);
    if (cached === undefined) return fetch(input, init);
    const short = {
      ...pick(
        body,
        Object.keys(body).filter((key) => !CACHED_FIELDS.includes(key)),
      ),
    };
    const text = JSON.stringify({ ...short, cachedContent: cached.name });
    const response = await fetch(input, { ...init, body: text });
    // Gone before its time: 403 and 404 are how Gemini says so.
    if (response.status !== 403 && response.status !== 404) return response;
    await response.body?.cancel();
    caches.delete(id);
    return fetch(input, init);
  };

  async function cacheFor(
    id: string,
    kept: JsonObject,
    begins: boolean,
    init: RequestInit | undefined,
  ): Promise<Cached | undefined> {
    const known = await caches.get(id);
    // The later calls of an invocation are no further use: it ends with the cache it began with.
    if (known !== undefined && known.expiresAt > now() && (known.usesLeft > 0 || !begins)) {
      if (begins) known.usesLeft--;
      return known;
    }
    if (known === undefined && caches.has(id)) return undefined;
    const making = create(id, kept, init);
    caches.set(id, making);
    if (known !== undefined) void remove(known.name, init);
    return making;
  }

  async function create(
    id: string,
    kept: JsonObject,
    init: RequestInit | undefined,
  ): Promise<Cached | undefined> {
    const wanted = { model: `models/${model}`, ...kept, ttl: `${ttlSeconds}s` };
    const request = { ...init, body: JSON.stringify(wanted) };
    const response = await fetch(`${baseUrl}/cachedContents`, request).catch(() => undefined);
    const made: unknown = await response?.json().catch(() => undefined);
    if (response?.ok === true && isJsonObject(made) && typeof made['name'] === 'string') {
      const expiresAt = now() + ttlSeconds * 1000;
      return { name: made['name'], expiresAt, usesLeft: cacheIntervals - 1 };
    }
    // Only a refusal of what was asked would be the same next time.
    if (response?.status !== 400) caches.delete(id);
    return undefined;
  }

  // It ends by itself too: a failure here is only a few cents.
  async function remove(name: string, init: RequestInit | undefined): Promise<void> {
    const { headers } = init ?? {};
    const request = { method: 'DELETE', ...(headers !== undefined && { headers }) };
    await fetch(`${baseUrl}/${name}`, request).catch(() => undefined);
  }
}

/** @throws InvalidInputError */
function withDefaults(config: ContextCacheConfig): Required<ContextCacheConfig> {
  const { cacheIntervals = 10, ttlSeconds = 1800, minTokens = 0 } = config;
  const check = (isRight: boolean, field: string, rule: string): void => {
    if (!isRight) throw new InvalidInputError(`contextCache.${field}`, `must be ${rule}.`);
  };
  const isWhole = Number.isInteger(cacheIntervals);
  check(
    isWhole && cacheIntervals >= 1 && cacheIntervals <= 100,
    'cacheIntervals',
    'a whole number from 1 to 100',
  );
  check(Number.isFinite(ttlSeconds) && ttlSeconds > 0, 'ttlSeconds', 'above 0');
  check(Number.isFinite(minTokens) && minTokens >= 0, 'minTokens', '0 or more');
  return { cacheIntervals, ttlSeconds, minTokens };
}

/** Whether somebody has spoken since the model did: what follows the results of tools belongs to what began before. */
function beginsInvocation({ contents }: JsonObject): boolean {
  const last: unknown = Array.isArray(contents) ? contents.at(-1) : undefined;
  const parts: unknown = isJsonObject(last) ? last['parts'] : undefined;
  return (
    !Array.isArray(parts) ||
    !parts.some((part: unknown) => isJsonObject(part) && 'functionResponse' in part)
  );
}

function parseBody(init: RequestInit | undefined): JsonObject | undefined {
  if (typeof init?.body !== 'string') return undefined;
  const body: unknown = JSON.parse(init.body);
  return isJsonObject(body) ? body : undefined;
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([key, value]) => keys.includes(key) && value !== undefined),
  );
}
