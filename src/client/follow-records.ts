import { optionTable, type OptionTable } from '../core/internal.ts';
import { backoffMs } from './delay.ts';
import type { HttpCaller } from './http-caller.ts';
import type { SessionRecord, ValueDetail } from './resources.ts';
import { DEFAULT_RECONNECTS, isRetryable, readConnection } from './read-connection.ts';

/** Where to start reading records, how much of their values to show, and when to give up a connection. */
export interface FollowRecordsOptions {
  /** The last record that you have. Default: 0, for all records. */
  readonly after?: number;
  /** Default: `none`. */
  readonly values?: ValueDetail;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
  /** How many connections in a row may fail without a new record before the iteration throws. Default: 30. */
  readonly reconnects?: number;
  /** A connection that receives no bytes for this long, in milliseconds, is replaced by a new one. Default: 45,000. */
  readonly idleTimeoutMs?: number;
}

/** The options of `client.sessions.followRecords`. */
export const FOLLOW_RECORDS_OPTIONS: OptionTable = optionTable<FollowRecordsOptions>(
  'followRecords',
  { after: true, values: true, signal: true, reconnects: true, idleTimeoutMs: true },
  { from: 'after', fromSeq: 'after' },
);

/**
 * Yields the records of a session after a number, then new ones as they are committed. Each record comes once and in
 * order, over as many connections as needed. Ends when the signal aborts.
 * @throws ApiError for a status that is not retryable, or after `reconnects` failures; ConnectionError after
 * `reconnects` failures
 */
export async function* followRecords(
  caller: HttpCaller,
  path: string,
  {
    after = 0,
    values,
    signal,
    reconnects = DEFAULT_RECONNECTS,
    idleTimeoutMs,
  }: FollowRecordsOptions,
): AsyncGenerator<SessionRecord, void, undefined> {
  const isAborted = (): boolean => signal?.aborted === true;
  let last = after;
  for (let failures = 0; !isAborted(); failures++) {
    const before = last;
    try {
      const frames = readConnection(caller, path, {
        query: { after: last, values },
        lastId: undefined,
        signal,
        idleTimeoutMs,
      });
      for await (const { data } of frames) {
        const record = parseRecord(data);
        if (record === undefined || record.record <= last) continue;
        last = record.record;
        yield record;
      }
    } catch (error) {
      if (isAborted()) return;
      if (!isRetryable(error)) throw error;
      if (last === before && failures >= reconnects) throw error;
    }
    if (last !== before) failures = 0;
    await caller.delay(backoffMs(failures + 1), signal);
  }
}

/** Returns undefined if the data is not a record, for example when a proxy inserted it. */
function parseRecord(data: string): SessionRecord | undefined {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value !== 'object' || value === null || !('record' in value)) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server sends records of this type only
    return value as SessionRecord;
  } catch {
    return undefined;
  }
}
