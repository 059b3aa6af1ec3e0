import type { Clock } from '../../net/index.ts';

export interface FrameStreamOptions {
  /** Yields the frames to send. It ends when the signal aborts. */
  readonly frames: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>;
  /** The stream ends when any of them aborts. */
  readonly signals: readonly AbortSignal[];
  readonly clock: Clock;
  /** Whether the reader may still read. Asked once in each `keepAliveMs`; if not, the stream ends. */
  readonly isAllowed: () => Promise<boolean>;
  /** Send a comment after this long without an event, in milliseconds. */
  readonly keepAliveMs: number;
  /** Disconnect a reader that does not read available data for this long, in milliseconds. */
  readonly readerTimeoutMs: number;
  /** Destroys the connection of a stalled reader, which would not see the end of the stream either. */
  readonly destroyConnection: () => void;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * A response in the format of server-sent events. It reads a frame only when the reader takes one, so nothing is
 * buffered. It ends with the frames, and when a signal aborts.
 */
export function frameStream(options: FrameStreamOptions): Response {
  const { signals, clock, keepAliveMs, readerTimeoutMs, destroyConnection, isAllowed } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([...signals, ended.signal]);
  const frames = options.frames(signal);
  const encoder = new TextEncoder();
  // Start reading now, so that the stream covers everything that happens before the first pull.
  let next: Promise<IteratorResult<string>> | undefined = frames.next();
  next.catch(() => undefined);
  let cancelReaderTimeout = (): void => {};
  let nextCheckAt = clock.now() + keepAliveMs;
  const stop = async (): Promise<void> => {
    cancelReaderTimeout();
    ended.abort();
    // Reads that wait for the log end by the signal.
    await frames.return(undefined).catch(() => undefined);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        controller.enqueue(encoder.encode(': open\n\n'));
      },
      pull: async (controller) => {
        cancelReaderTimeout();
        next ??= frames.next();
        const result = await nextOrTimeout(next, signal, clock, keepAliveMs);
        const isDue = clock.now() >= nextCheckAt;
        if (isDue) nextCheckAt = clock.now() + keepAliveMs;
        if (result === 'aborted' || (isDue && !(await isAllowed()))) {
          controller.close();
          void stop();
          return;
        }
        if (result === 'silence') {
          controller.enqueue(encoder.encode(': keep-alive\n\n'));
        } else if (result === 'failed' || result.done === true) {
          // Close without an error. The reader resumes after its last event.
          controller.close();
          void stop();
          return;
        } else {
          next = undefined;
          controller.enqueue(encoder.encode(result.value));
        }
        cancelReaderTimeout = clock.at(clock.now() + readerTimeoutMs, () => {
          controller.close();
          destroyConnection();
          void stop();
        });
      },
      cancel: stop,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: HEADERS });
}

/** All clients accept the event name `message`. JSON contains no line breaks, so one data line is enough. */
export function frame(value: object): string {
  return `event: message\ndata: ${JSON.stringify(value)}\n\n`;
}

async function nextOrTimeout<T>(
  next: Promise<T>,
  signal: AbortSignal,
  clock: Clock,
  ms: number,
): Promise<T | 'silence' | 'aborted' | 'failed'> {
  if (signal.aborted) return 'aborted';
  let cancel = (): void => {};
  let onAbort = (): void => {};
  const others = new Promise<'silence' | 'aborted'>((resolve) => {
    cancel = clock.at(clock.now() + ms, () => resolve('silence'));
    onAbort = () => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([next.catch((): 'failed' => 'failed'), others]);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}
