import { backoffMs } from './delay.ts';
import type { HttpCaller, Query } from './http-caller.ts';
import { DEFAULT_RECONNECTS, isRetryable, parseEvent, readConnection } from './read-connection.ts';

/** How to follow a list: when it ends, and when it gives up a connection. */
export interface WatchOptions {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
  /** How many connections in a row may fail without a new event before the iteration throws. Default: 30. */
  readonly reconnects?: number;
  /**
   * A connection that receives no bytes for this long, in milliseconds, is replaced by a new one. Default: 45,000. The
   * server sends a keep-alive comment every 15,000.
   */
  readonly idleTimeoutMs?: number;
}

/** A change of a list, with the position after it if the stream can continue there. */
export interface FollowedChange<T> {
  readonly change: T;
  readonly cursor: string | undefined;
}

/**
 * Yields the events of a stream over as many connections as needed. A new connection continues after the last event
 * that had an id; without ids, the stream begins again.
 * @throws ApiError for a status that is not retryable, or after `reconnects` failures; ConnectionError after
 * `reconnects` failures
 */
export async function* followChanges<T>(
  caller: HttpCaller,
  path: string,
  query: Query,
  { signal, reconnects = DEFAULT_RECONNECTS, idleTimeoutMs }: WatchOptions,
): AsyncGenerator<FollowedChange<T>, void, undefined> {
  let lastId: string | undefined;
  const isAborted = (): boolean => signal?.aborted === true;
  for (let failures = 0; !isAborted(); failures++) {
    let received = false;
    try {
      const frames = readConnection(caller, path, { query, lastId, signal, idleTimeoutMs });
      for await (const { id, data } of frames) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server sends events of this type only
        const change = parseEvent(data) as T | undefined;
        if (change === undefined) continue;
        received = true;
        lastId = id ?? lastId;
        yield { change, cursor: lastId };
      }
    } catch (error) {
      if (isAborted()) return;
      if (!isRetryable(error)) throw error;
      if (!received && failures >= reconnects) throw error;
    }
    if (received) failures = 0;
    await caller.delay(backoffMs(failures + 1), signal);
  }
}
