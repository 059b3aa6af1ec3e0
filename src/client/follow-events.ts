import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';
import type { HttpCaller } from './http-caller.ts';
import { backoffMs } from './pause-for.ts';
import { serverSentEvents } from './server-sent-events.ts';
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
  readonly silenceMs?: number;
}

const RECONNECTS = 30;
const SILENCE_MS = 45_000;
const LAST = new Set(['session.status_terminated', 'session.deleted']);

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
  const { signal, reconnects = RECONNECTS } = options;
  const reader = new Reader(options);
  const isAborted = (): boolean => signal?.aborted === true;
  for (let failures = 0; !isAborted(); failures++) {
    const seen = reader.seen;
    try {
      for await (const event of reader.read(caller, path)) yield event;
      if (reader.isOver) return;
    } catch (error) {
      if (isAborted()) return;
      if (!mayPass(error)) throw error;
      if (reader.seen === seen && failures >= reconnects) throw error;
    }
    if (reader.seen !== seen) failures = 0;
    await caller.pauseFor(backoffMs(failures + 1), signal);
  }
}

/** What of a session was read, over all connections. */
class Reader {
  readonly #options: FollowOptions;
  #lastId: string | undefined;
  /** How many events were shown. */
  seen = 0;
  #seq = 0;
  #idsOfSeq = new Set<string>();
  #lastType = '';

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return LAST.has(this.#lastType);
  }

  /** What comes over one connection that was not seen before. */
  async *read(caller: HttpCaller, path: string): AsyncGenerator<StreamedEvent, void, undefined> {
    const { signal, previews, silenceMs = SILENCE_MS } = this.#options;
    const silent = new AbortController();
    const signals = signal === undefined ? [silent.signal] : [silent.signal, signal];
    const either = AbortSignal.any(signals);
    let timer = setTimeout(() => silent.abort(), silenceMs);
    try {
      const response = await caller.open(path, {
        query: { ...this.#place(), event_deltas: previews },
        headers: this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId },
        signal: either,
      });
      if (response.body === null) throw new ConnectionError(path, 'the reply has no body');
      const alive = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => silent.abort(), silenceMs);
      };
      for await (const { id, data } of serverSentEvents(response.body, alive)) {
        const event = eventIn(data);
        if (event === undefined) continue;
        if (id === undefined) yield event;
        else if (isKept(event) && this.#isNew(event)) {
          this.#lastId = id;
          yield event;
        }
      }
    } catch (error) {
      if (error instanceof ApiError || error instanceof ConnectionError) throw error;
      throw new ConnectionError(
        path,
        silent.signal.aborted ? 'nothing came' : String(error),
        error,
      );
    } finally {
      clearTimeout(timer);
      silent.abort();
    }
  }

  #place(): { readonly after_id?: string; readonly from_seq?: number } {
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
    this.seen++;
    return true;
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** Undefined for what is no event: something on the way has spoken. */
function eventIn(data: string): StreamedEvent | undefined {
  try {
    const read: unknown = JSON.parse(data);
    if (typeof read !== 'object' || read === null || !('type' in read)) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the server promises to send
    return read as StreamedEvent;
  } catch {
    return undefined;
  }
}

function isKept(event: StreamedEvent): event is SessionEvent {
  return 'seq' in event && 'id' in event;
}
