import type { EventSourceMessage } from 'eventsource-parser';
import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';
import type { HttpCaller, Query } from './http-caller.ts';
import { readServerSentEvents } from './server-sent-events.ts';

/** How many connections in a row may fail without a new event. */
export const DEFAULT_RECONNECTS = 30;
const DEFAULT_IDLE_TIMEOUT_MS = 45_000;

export interface ConnectionOptions {
  readonly query: Query;
  /** The id of the last event received, if the stream continues there. */
  readonly lastId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Default: 45,000. */
  readonly idleTimeoutMs: number | undefined;
}

/**
 * Reads the events of one connection.
 * @throws ApiError, ConnectionError
 */
export async function* readConnection(
  caller: HttpCaller,
  path: string,
  { query, lastId, signal, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS }: ConnectionOptions,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const idle = new AbortController();
  const signals = signal === undefined ? [idle.signal] : [idle.signal, signal];
  let timer = setTimeout(() => idle.abort(), idleTimeoutMs);
  try {
    const response = await caller.open(path, {
      query,
      headers: lastId === undefined ? {} : { 'last-event-id': lastId },
      signal: AbortSignal.any(signals),
    });
    if (response.body === null) throw new ConnectionError(path, 'the response has no body');
    const onActivity = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), idleTimeoutMs);
    };
    yield* readServerSentEvents(response.body, onActivity);
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConnectionError) throw error;
    const problem = idle.signal.aborted
      ? `received no data for ${idleTimeoutMs} ms`
      : String(error);
    throw new ConnectionError(path, problem, error);
  } finally {
    clearTimeout(timer);
    idle.abort();
  }
}

export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** Returns undefined if the data is not an event, for example when a proxy inserted it. */
export function parseEvent(data: string): { readonly type: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && 'type' in value ? value : undefined;
  } catch {
    return undefined;
  }
}
