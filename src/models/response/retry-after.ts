import { isJsonObject } from '../../core/index.ts';

/** The headers and body of an error reply. Header names are in lower case. */
export interface ErrorReply {
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON, if it was JSON. */
  readonly body: unknown;
}

/**
 * The wait that a provider requests, in milliseconds: from `retry-after-ms`, `retry-after`
 * (seconds, or a date by the provider's own clock), or the RetryInfo that Gemini puts in the body.
 */
export function parseRetryAfter({ headers, body }: ErrorReply): number | undefined {
  return (
    parseMilliseconds(headers['retry-after-ms'], 1) ??
    parseMilliseconds(headers['retry-after'], 1000) ??
    untilDate(headers['retry-after'], headers['date']) ??
    parseRetryInfo(body)
  );
}

function parseMilliseconds(text: string | undefined, factor: number): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Math.ceil(Number(text) * factor);
}

function untilDate(date: string | undefined, now: string | undefined): number | undefined {
  const wait = Date.parse(date ?? '') - Date.parse(now ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function parseRetryInfo(body: unknown): number | undefined {
  const error = isJsonObject(body) ? (body['error'] ?? body) : undefined;
  const details = isJsonObject(error) ? error['details'] : undefined;
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay: unknown = isJsonObject(detail) ? detail['retryDelay'] : undefined;
    const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}
