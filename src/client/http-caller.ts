import { isRecord, omitUndefined } from '../core/internal.ts';
import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';
import { backoffMs, type Delay } from './delay.ts';

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface CallerOptions {
  /** Base URL of the server. A path in it is kept. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** How often a failed request is retried. */
  readonly retries: number;
  /** How long to wait for a response, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest `retry-after` to wait for, in milliseconds. */
  readonly maxRetryAfterMs: number;
  readonly delay: Delay;
}

export interface HttpCallOptions {
  readonly query?: Query | undefined;
  readonly body?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The server carries out requests with the same key once. Default: a new key per call. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Calls one server. A call that fails with a retryable error is repeated under the same idempotency key, so it takes
 * effect once.
 */
export class HttpCaller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  get delay(): Delay {
    return this.#options.delay;
  }

  /** @throws ApiError, ConnectionError, or the reason of the signal */
  async call<T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options: HttpCallOptions = {},
  ): Promise<T> {
    const key = method === 'GET' ? undefined : (options.idempotencyKey ?? newIdempotencyKey());
    const { retries, maxRetryAfterMs, delay } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#callOnce<T>(method, path, { ...options, idempotencyKey: key });
      if ('value' in outcome) return outcome.value;
      options.signal?.throwIfAborted();
      const { retryAfterMs: waitMs = backoffMs(attempt) } = outcome;
      if (!outcome.isRetryable || attempt > retries || waitMs > maxRetryAfterMs)
        throw outcome.error;
      await delay(waitMs, options.signal);
      options.signal?.throwIfAborted();
    }
  }

  /**
   * Opens a response with a streaming body. `timeoutMs` covers the headers only; the caller reads the body. It does not
   * retry.
   * @throws ApiError, ConnectionError, or the reason of the signal
   */
  async open(path: string, { query, signal, headers }: OpenOptions): Promise<Response> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#options.timeoutMs);
    try {
      const response = await this.#fetch('GET', path, {
        query,
        headers,
        signal: AbortSignal.any([signal, timeout.signal]),
      });
      if (!response.ok) throw await toApiError(response);
      return response;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ApiError ? error : this.#unreachable(path, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #callOnce<T>(
    method: string,
    path: string,
    { query, body, signal, idempotencyKey }: HttpCallOptions,
  ): Promise<CallOutcome<T>> {
    try {
      const timeout = AbortSignal.timeout(this.#options.timeoutMs);
      const response = await this.#fetch(method, path, {
        query,
        ...omitUndefined({ body: body === undefined ? undefined : JSON.stringify(body) }),
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (response.ok) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server sends this type on this path
        return { value: (await response.json()) as T };
      }
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      return {
        error: await toApiError(response),
        isRetryable: response.status === 408 || response.status === 429 || response.status >= 500,
        ...omitUndefined({ retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined }),
      };
    } catch (error) {
      // An incomplete response counts as no response, so it is retryable.
      return { error: this.#unreachable(path, error), isRetryable: true };
    }
  }

  async #fetch(
    method: string,
    path: string,
    { query = {}, body, headers, signal }: FetchOptions,
  ): Promise<Response> {
    const { baseUrl, apiKey, fetch } = this.#options;
    return fetch(`${baseUrl}${path}${queryText(query)}`, {
      method,
      signal,
      headers: {
        ...headers,
        ...omitUndefined({
          'x-api-key': apiKey,
          'content-type': body === undefined ? undefined : 'application/json',
        }),
      },
      ...omitUndefined({ body }),
    });
  }

  #unreachable(path: string, cause: unknown): ConnectionError {
    const problem = cause instanceof Error ? cause.message : 'no response';
    return new ConnectionError(`${this.#options.baseUrl}${path}`, problem, cause);
  }
}

interface OpenOptions {
  readonly query: Query;
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
}

interface FetchOptions {
  readonly query: Query | undefined;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

type CallOutcome<T> =
  | { readonly value: T }
  | { readonly error: Error; readonly isRetryable: boolean; readonly retryAfterMs?: number };

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (typeof value === 'object') for (const item of value) parameters.append(`${name}[]`, item);
    else parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

async function toApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const errorBody = parseErrorBody(text);
  return new ApiError(response.status, {
    message: errorBody.message ?? `The server responded with status ${response.status}.`,
    type: errorBody.type,
    errorCode: errorBody.errorCode,
    details: errorBody.details,
    requestId: response.headers.get('request-id') ?? undefined,
  });
}

function parseErrorBody(text: string): {
  readonly message?: string;
  readonly type?: string;
  readonly errorCode?: string;
  readonly details?: Readonly<Record<string, unknown>>;
} {
  try {
    const body: unknown = JSON.parse(text);
    const error: unknown = Object(body).error;
    const { message, type, details }: { message?: unknown; type?: unknown; details?: unknown } =
      Object(error);
    const errorCode: unknown = Object(details).error_code;
    return omitUndefined({
      message: typeof message === 'string' ? message : undefined,
      type: typeof type === 'string' ? type : undefined,
      errorCode: typeof errorCode === 'string' ? errorCode : undefined,
      details: isRecord(details) ? details : undefined,
    });
  } catch {
    // The response is not an error of this server; a proxy may have sent it.
    return {};
  }
}

function newIdempotencyKey(): string {
  return globalThis.crypto.randomUUID();
}
