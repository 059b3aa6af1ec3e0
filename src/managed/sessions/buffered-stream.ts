import type { LogEvent, PartialEvent, Seq } from '../../core/index.ts';
import { SubscriberTooSlowError } from '../interface/managed-errors.ts';

export interface BufferedStreamOptions {
  readonly sessionId: string;
  readonly from: Seq;
  /** The last number of the log, if it was just read. */
  readonly last?: Seq;
  /** Reads the log after a number, and then new events, until the signal aborts. */
  readonly read: (from: Seq, signal: AbortSignal) => AsyncIterable<LogEvent | PartialEvent>;
  /** The current last number of the log. */
  readonly lastSeq: () => Promise<Seq>;
  /** How many events may wait for the reader before the stream is closed. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Streams a log for a transport. History is read at the reader's pace. After the reader has caught up, new events are
 * buffered. If more than `limit` events wait, the stream ends with an error that holds the cursor; events are never
 * skipped.
 * @throws SubscriberTooSlowError if the buffer is full
 */
export async function* bufferedStream(
  options: BufferedStreamOptions,
): AsyncGenerator<LogEvent | PartialEvent, void, undefined> {
  const { read, lastSeq, signal } = options;
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  const source = read(options.from, ended.signal)[Symbol.asyncIterator]();
  let cursor = options.from;
  try {
    let last = options.last ?? (await lastSeq());
    while (cursor < last) {
      const { done, value } = await source.next();
      if (done === true) return;
      if ('seq' in value) cursor = value.seq;
      yield value;
      if (cursor >= last) last = await lastSeq();
    }
    yield* live(source, cursor, options);
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
    await source.return?.();
  }
}

async function* live(
  source: AsyncIterator<LogEvent | PartialEvent>,
  from: Seq,
  { sessionId, limit }: BufferedStreamOptions,
): AsyncGenerator<LogEvent | PartialEvent, void, undefined> {
  let cursor = from;
  let buffer: (LogEvent | PartialEvent)[] = [];
  let notify: () => void = () => {};
  let end: { readonly error?: unknown } | undefined;
  let open = true;
  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await source.next();
      if (done === true || !open) return;
      // Partial answers are dropped for slow readers.
      if (!('seq' in value) && buffer.length >= limit) continue;
      buffer.push(value);
      if (buffer.length > limit && countBuffered(buffer) > limit) {
        buffer = [];
        throw new SubscriberTooSlowError(sessionId, cursor, limit);
      }
      notify();
    }
  };
  const run = async (): Promise<void> => {
    try {
      await pump();
      end = {};
    } catch (error) {
      end = { error };
    }
    notify();
  };
  void run();
  try {
    for (;;) {
      const next = buffer.shift();
      if (next !== undefined) {
        if ('seq' in next) cursor = next.seq;
        yield next;
      } else if (isEnded(end)) {
        if ('error' in end) throw end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    }
  } finally {
    open = false;
  }
}

function countBuffered(buffer: readonly (LogEvent | PartialEvent)[]): number {
  return buffer.filter((event) => 'seq' in event).length;
}

// A function, because control flow analysis does not see that an await may have changed the value.
function isEnded(
  end: { readonly error?: unknown } | undefined,
): end is { readonly error?: unknown } {
  return end !== undefined;
}
