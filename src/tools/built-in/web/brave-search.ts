import { checkDefinition } from '../../../core/internal.ts';
import { array, minLength, nullish, object, optional, pipe, safeParse, string } from 'valibot';
import { InvalidInputError, optionTable } from '../../../core/index.ts';
import type { OptionTable } from '../../../core/index.ts';
import { SearchError } from './search-error.ts';
import type { SearchProvider, WebSearchResult } from './search-provider.ts';

/** Options of `braveSearch`. The key is sent to `baseUrl` only; a redirect is an error. */
export interface BraveSearchOptions {
  /** The subscription token. */
  readonly apiKey: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Default: `https://api.search.brave.com`. */
  readonly baseUrl?: string;
  /** The country of the results, as two letters such as `DE`. */
  readonly country?: string;
}

const NAME = 'Brave Search';
const PATH = '/res/v1/web/search';
/** The limits of the service. */
const MAX_QUERY_LENGTH = 400;
const MAX_RESULTS = 20;
const MAX_BYTES = 4 * 1024 * 1024;

const ReplySchema = object({
  web: nullish(
    object({
      results: array(
        object({
          title: string(),
          url: pipe(string(), minLength(1)),
          description: optional(string(), ''),
          page_age: nullish(string()),
        }),
      ),
    }),
  ),
});

/** The options of `braveSearch`. */
export const BRAVE_SEARCH_OPTIONS: OptionTable = optionTable<BraveSearchOptions>('braveSearch', {
  apiKey: true,
  fetch: true,
  baseUrl: true,
  country: true,
});

/**
 * Creates a search provider for Brave Search (api.search.brave.com).
 * @throws InvalidInputError if the key is empty or has characters that a header cannot hold
 */
export function braveSearch(options: BraveSearchOptions): SearchProvider {
  checkDefinition(BRAVE_SEARCH_OPTIONS, options);
  const { apiKey, fetch = globalThis.fetch, baseUrl = 'https://api.search.brave.com' } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new InvalidInputError(
      'apiKey',
      'is not a valid key: it must be non-empty printable ASCII without spaces.',
    );
  return {
    name: NAME,
    search: async (query, { count, signal }) => {
      const url = new URL(`${baseUrl.replace(/\/$/, '')}${PATH}`);
      url.searchParams.set('q', query.slice(0, MAX_QUERY_LENGTH));
      url.searchParams.set('count', String(Math.min(count, MAX_RESULTS)));
      // Otherwise Brave marks the matched words with HTML tags.
      url.searchParams.set('text_decorations', 'false');
      url.searchParams.set('result_filter', 'web');
      if (options.country !== undefined) url.searchParams.set('country', options.country);
      const headers = { accept: 'application/json', 'x-subscription-token': apiKey };
      try {
        // A redirect would send the key to another host.
        const response = await fetch(url, { headers, signal, redirect: 'error' });
        if (!response.ok) throw toSearchError(response);
        return parseResults(await limitedText(response)).slice(0, count);
      } catch (cause) {
        signal.throwIfAborted();
        throw cause instanceof SearchError
          ? cause
          : new SearchError('search_failed', NAME, 'could not be reached.', { cause });
      }
    },
  };
}

function toSearchError({ status, headers }: Response): SearchError {
  if (status === 401 || status === 403) {
    return new SearchError('search_unauthorised', NAME, 'does not accept the key.');
  }
  if (status !== 429)
    return new SearchError('search_failed', NAME, `responded with status ${status}.`);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const options = Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {};
  const problem = 'rate limit reached. Search again later.';
  return new SearchError('search_rate_limited', NAME, problem, options);
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new SearchError('search_failed', NAME, `sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseResults(text: string): readonly WebSearchResult[] {
  const reply = safeParse(ReplySchema, tryParseJson(text));
  if (!reply.success) {
    throw new SearchError('search_failed', NAME, 'sent a response in an unknown format.');
  }
  const found = reply.output.web?.results ?? [];
  return found.map(({ title, url, description, page_age }) => ({
    title,
    url,
    snippet: description,
    ...(page_age === null || page_age === undefined ? {} : { date: page_age }),
  }));
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
