import type { LogEvent, PartialEvent, Seq } from '../../core/index.ts';
import { SubscriberTooSlowError } from '../interface/managed-errors.ts';

export interface BufferedStreamOptions {
  readonly sessionId: string;
  readonly from: Seq;
  /** Reads the log after a number and then what happens, until the signal aborts. */
  readonly read: (from: Seq, signal: AbortSignal) => AsyncIterable<LogEvent | PartialEvent>;
  /** The last number there is now. */
  readonly lastSeq: () => Promise<Seq>;
  /** How many events may wait for the reader before it is closed. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A log as a transport sends it. History is read at the reader's pace. Once the reader has caught up, what happens is
 * put aside for it, and a reader that lets more than `limit` events wait is closed with its cursor, never skipped.
 * @throws SubscriberTooSlowError
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
    let last = await lastSeq();
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
      // Pieces of answers are for those who keep up.
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

// Read anew each time: the flow of control does not see that an await may have let it change.
function isEnded(
  end: { readonly error?: unknown } | undefined,
): end is { readonly error?: unknown } {
  return end !== undefined;
}
