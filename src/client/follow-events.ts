import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';
import { backoffMs } from './delay.ts';
import type { HttpCaller } from './http-caller.ts';
import { readServerSentEvents } from './server-sent-events.ts';
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

const DEFAULT_RECONNECTS = 30;
const DEFAULT_IDLE_TIMEOUT_MS = 45_000;
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
    const { signal, previews, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = this.#options;
    const idle = new AbortController();
    const signals = signal === undefined ? [idle.signal] : [idle.signal, signal];
    const anySignal = AbortSignal.any(signals);
    let timer = setTimeout(() => idle.abort(), idleTimeoutMs);
    try {
      const response = await caller.open(path, {
        query: { ...this.#cursorQuery(), event_deltas: previews },
        headers: this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId },
        signal: anySignal,
      });
      if (response.body === null) throw new ConnectionError(path, 'the response has no body');
      const onActivity = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => idle.abort(), idleTimeoutMs);
      };
      for await (const { id, data } of readServerSentEvents(response.body, onActivity)) {
        const event = parseEvent(data);
        if (event === undefined) continue;
        if (id === undefined) yield event;
        else if (isSessionEvent(event) && this.#isNew(event)) {
          this.#lastId = id;
          yield event;
        }
      }
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

/** True for a failure after which another connection may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** Returns undefined if the data is not an event, for example when a proxy inserted it. */
function parseEvent(data: string): StreamedEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server sends events of this type only
    return value as StreamedEvent;
  } catch {
    return undefined;
  }
}

function isSessionEvent(event: StreamedEvent): event is SessionEvent {
  return 'seq' in event && 'id' in event;
}
