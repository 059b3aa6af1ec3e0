import { omitUndefined } from '../../core/internal.ts';
import { canonicalJson, InvalidInputError, isJsonObject, sha256Hex } from '../../core/index.ts';
import type { JsonObject, OptionNames } from '../../core/index.ts';

/**
 * Options of Gemini's context cache. It stores the instruction and the tools at Gemini, so that a
 * long prefix is sent and paid for once.
 */
export type ContextCacheConfig = {
  /** How many invocations use a cache before it is renewed: 1 to 100. Default: 10. */
  readonly cacheIntervals?: number;
  /** How long Gemini keeps a cache, in seconds: above 0. Default: 1800. */
  readonly ttlSeconds?: number;
  /** The smallest prefix to cache, in estimated tokens. Default: 0. */
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
 * Wraps `fetch` for Gemini's package: it stores the unchanging part of a request as cached content
 * at Gemini and refers to it. If a cache cannot be created or has disappeared, the request is sent
 * in full: it costs more, but does not fail.
 * @throws InvalidInputError if an option is out of range
 */
export function contextCachingFetch(options: ContextCacheOptions): typeof globalThis.fetch {
  const { config, baseUrl, model, fetch, now } = options;
  const { cacheIntervals, ttlSeconds, minTokens } = withDefaults(config);
  // By hash of the cached part. `undefined`: Gemini rejected it, and would again.
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
    // 403 and 404 mean that the cache has disappeared early.
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
    // Later calls of an invocation do not count as a use: it keeps the cache with which it began.
    if (known !== undefined && known.expiresAt > now() && (known.usesLeft > 0 || !begins)) {
      if (begins) known.usesLeft--;
      return known;
    }
    if (known === undefined && caches.has(id)) return undefined;
    const creating = create(id, kept, init);
    caches.set(id, creating);
    if (known !== undefined) void remove(known.name, init);
    return creating;
  }

  async function create(
    id: string,
    kept: JsonObject,
    init: RequestInit | undefined,
  ): Promise<Cached | undefined> {
    const content = { model: `models/${model}`, ...kept, ttl: `${ttlSeconds}s` };
    const request = { ...init, body: JSON.stringify(content) };
    const response = await fetch(`${baseUrl}/cachedContents`, request).catch(() => undefined);
    const created: unknown = await response?.json().catch(() => undefined);
    if (response?.ok === true && isJsonObject(created) && typeof created['name'] === 'string') {
      const expiresAt = now() + ttlSeconds * 1000;
      return { name: created['name'], expiresAt, usesLeft: cacheIntervals - 1 };
    }
    // A 400 would be repeated next time; any other failure may be temporary.
    if (response?.status !== 400) caches.delete(id);
    return undefined;
  }

  // The cache also expires by itself, so a failure only costs a few cents.
  async function remove(name: string, init: RequestInit | undefined): Promise<void> {
    const { headers } = init ?? {};
    const request = { method: 'DELETE', ...omitUndefined({ headers }) };
    await fetch(`${baseUrl}/${name}`, request).catch(() => undefined);
  }
}

/** @throws InvalidInputError */
function withDefaults(config: ContextCacheConfig): Required<ContextCacheConfig> {
  const { cacheIntervals = 10, ttlSeconds = 1800, minTokens = 0 } = config;
  const check = (isValid: boolean, field: string, rule: string): void => {
    if (!isValid) throw new InvalidInputError(`contextCache.${field}`, `must be ${rule}.`);
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

/** Whether the last message is a user message. One with tool results continues an invocation. */
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
