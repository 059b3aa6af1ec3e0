import { optionTable, type OptionTable } from '../core/internal.ts';
import { backoffMs } from './delay.ts';
import type { HttpCaller } from './http-caller.ts';
import { DEFAULT_RECONNECTS, isRetryable, parseEvent, readConnection } from './read-connection.ts';
import type { SessionEvent, StreamedEvent } from './session-event.ts';

/** Position in a session's log: the id of the last event received, or its `seq`. */
export type Cursor = string | number;

/** Where to start reading a session's events, whether to include previews, and when to give up a connection. */
export interface FollowOptions {
  readonly after?: Cursor;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
  /** Types of events to preview while they are generated: `agent.message`, `agent.thinking`. Default: none. */
  readonly previews?: readonly string[];
  /** How many connections in a row may fail without a new event before the iteration throws. Default: 30. */
  readonly reconnects?: number;
  /**
   * A connection that receives no bytes for this long, in milliseconds, is replaced by a new one. Default: 45,000. The
   * server sends a keep-alive comment every 15,000.
   */
  readonly idleTimeoutMs?: number;
}

/** The options of `client.sessions.events`. */
export const FOLLOW_OPTIONS: OptionTable = optionTable<FollowOptions>(
  'events',
  { after: true, signal: true, previews: true, reconnects: true, idleTimeoutMs: true },
  { from: 'after', fromSeq: 'after', from_seq: 'after', after_id: 'after' },
);

const FINAL_EVENT_TYPES = new Set(['session.status_terminated', 'session.deleted']);

/**
 * The events of a session after a cursor, then new ones as they happen. Each event comes once and in order, over as
 * many connections as needed. Ends with the session, or when the signal aborts.
 * @throws ApiError for a status that is not retryable, or after `reconnects` failures; ConnectionError after
 * `reconnects` failures
 */
export async function* followEvents(
  caller: HttpCaller,
  path: string,
  options: FollowOptions,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const { signal, reconnects = DEFAULT_RECONNECTS } = options;
  const reader = new EventReader(options);
  const isAborted = (): boolean => signal?.aborted === true;
  for (let failures = 0; !isAborted(); failures++) {
    const receivedBefore = reader.receivedCount;
    try {
      for await (const event of reader.read(caller, path)) yield event;
      if (reader.isFinished) return;
    } catch (error) {
      if (isAborted()) return;
      if (!isRetryable(error)) throw error;
      if (reader.receivedCount === receivedBefore && failures >= reconnects) throw error;
    }
    if (reader.receivedCount !== receivedBefore) failures = 0;
    await caller.delay(backoffMs(failures + 1), signal);
  }
}

/** Reading position of one session, kept across connections. */
class EventReader {
  readonly #options: FollowOptions;
  #lastId: string | undefined;
  /** Number of session events yielded so far; previews do not count. */
  receivedCount = 0;
  #seq = 0;
  #idsAtSeq = new Set<string>();
  #lastType = '';

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  get isFinished(): boolean {
    return FINAL_EVENT_TYPES.has(this.#lastType);
  }

  /** Yields the events of one connection that were not received before. */
  async *read(caller: HttpCaller, path: string): AsyncGenerator<StreamedEvent, void, undefined> {
    const { signal, previews, idleTimeoutMs } = this.#options;
    const frames = readConnection(caller, path, {
      query: { ...this.#cursorQuery(), event_deltas: previews },
      lastId: this.#lastId,
      signal,
      idleTimeoutMs,
    });
    for await (const { id, data } of frames) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server sends events of this type only
      const event = parseEvent(data) as StreamedEvent | undefined;
      if (event === undefined) continue;
      if (id === undefined) yield event;
      else if (isSessionEvent(event) && this.#isNew(event)) {
        this.#lastId = id;
        yield event;
      }
    }
  }

  #cursorQuery(): { readonly after_id?: string; readonly from_seq?: number } {
    if (this.#lastId !== undefined) return {};
    const { after = 0 } = this.#options;
    return typeof after === 'string' ? { after_id: after } : { from_seq: after };
  }

  /** A proxy may deliver part of a stream twice. */
  #isNew(event: SessionEvent): boolean {
    if (event.seq < this.#seq) return false;
    if (event.seq > this.#seq) this.#idsAtSeq = new Set();
    if (this.#idsAtSeq.has(event.id)) return false;
    this.#idsAtSeq.add(event.id);
    this.#seq = event.seq;
    this.#lastType = event.type;
    this.receivedCount++;
    return true;
  }
}

function isSessionEvent(event: StreamedEvent): event is SessionEvent {
  return 'seq' in event && 'id' in event;
}
