import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';
import type { HttpCaller } from './http-caller.ts';
import { backoffMs } from './delay.ts';
import { readServerSentEvents } from './server-sent-events.ts';
import type { SessionEvent, StreamedEvent } from './session-event.ts';

/** The event after which to go on, or the number of it; all there is when missing. */
export type Cursor = string | number;

/** From where a session's events are read, whether unfinished ones are shown, and when a connection is given up. */
export interface FollowOptions {
  readonly after?: Cursor;
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal;
  /** Types of events that are shown while they are made: `agent.message`, `agent.thinking`. */
  readonly previews?: readonly string[];
  /** How often in a row a connection may fail before the reader is told; 30. */
  readonly reconnects?: number;
  /** A connection on which nothing comes for so long is taken for dead; 45,000 milliseconds. The server speaks every 15,000. */
  readonly idleTimeoutMs?: number;
}

const DEFAULT_RECONNECTS = 30;
const DEFAULT_IDLE_TIMEOUT_MS = 45_000;
const FINAL_EVENT_TYPES = new Set(['session.status_terminated', 'session.deleted']);

/**
 * The events of a session after a cursor, then what happens, each once and in order, over as many connections as it
 * takes. Ends when the session does, or when the signal aborts.
 * @throws ApiError, ConnectionError when it cannot be reached any more
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

/** What of a session was read, over all connections. */
class EventReader {
  readonly #options: FollowOptions;
  #lastId: string | undefined;
  /** How many events were shown. */
  receivedCount = 0;
  #seq = 0;
  #idsOfSeq = new Set<string>();
  #lastType = '';

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  get isFinished(): boolean {
    return FINAL_EVENT_TYPES.has(this.#lastType);
  }

  /** What comes over one connection that was not seen before. */
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
      if (response.body === null) throw new ConnectionError(path, 'the reply has no body');
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
      throw new ConnectionError(path, idle.signal.aborted ? 'nothing came' : String(error), error);
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

  /** What lies between may send a piece twice. */
  #isNew(event: SessionEvent): boolean {
    if (event.seq < this.#seq) return false;
    if (event.seq > this.#seq) this.#idsOfSeq = new Set();
    if (this.#idsOfSeq.has(event.id)) return false;
    this.#idsOfSeq.add(event.id);
    this.#seq = event.seq;
    this.#lastType = event.type;
    this.receivedCount++;
    return true;
  }
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** Undefined for what is no event: something on the way has spoken. */
function parseEvent(data: string): StreamedEvent | undefined {
  try {
    const read: unknown = JSON.parse(data);
    if (typeof read !== 'object' || read === null || !('type' in read)) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server promises to send
    return read as StreamedEvent;
  } catch {
    return undefined;
  }
}

function isSessionEvent(event: StreamedEvent): event is SessionEvent {
  return 'seq' in event && 'id' in event;
}
