import type { LogEvent, PartialEvent, Seq } from '../../core/index.ts';
import type { SessionDeleted } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import { PreviewState } from '../wire/event-projection.ts';
import type { EventPosition, EventProjection } from '../wire/event-projection.ts';
import type { NetEvents } from './net-events.ts';

export interface EventStreamOptions {
  readonly log: (
    from: Seq,
    signal: AbortSignal,
  ) => AsyncIterable<LogEvent | PartialEvent | SessionDeleted>;
  readonly projection: EventProjection;
  /** The stream starts after this position. An infinite index means the whole entry. */
  readonly after: EventPosition;
  /** Ids of events that the reader has already received, at whatever position they are. */
  readonly seenIds?: ReadonlySet<string>;
  /**
   * Net events, if the reader requested them. They carry no id, so a reader resumes from the log event that follows
   * them.
   */
  readonly net: NetEvents | undefined;
  /** Types of events that are previewed while they are generated. */
  readonly previews: ReadonlySet<string>;
  /** The stream ends when any of them aborts. */
  readonly signals: readonly AbortSignal[];
  readonly clock: Clock;
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
 * A response in the format of server-sent events. It reads an event only when the reader takes one, so nothing is
 * buffered. It ends after the last event of a finished session, and when a signal aborts. A reader can resume after any
 * event.
 */
export function eventStream(options: EventStreamOptions): Response {
  const { log, after, signals, clock, keepAliveMs, readerTimeoutMs, destroyConnection } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([...signals, ended.signal]);
  const from = after.index === Infinity ? after.seq : after.seq - 1;
  const frames = toFrames(log(from, signal), options);
  const encoder = new TextEncoder();
  // Start reading now, so that the stream covers everything that happens before the first pull.
  let next: Promise<IteratorResult<string>> | undefined = frames.next();
  next.catch(() => undefined);
  let cancelReaderTimeout = (): void => {};
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
        if (result === 'aborted') {
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

async function* toFrames(
  log: AsyncIterable<LogEvent | PartialEvent | SessionDeleted>,
  { projection, after, seenIds, previews, net }: EventStreamOptions,
): AsyncGenerator<string, void, undefined> {
  let last = after.seq;
  const state = new PreviewState();
  for await (const event of log) {
    if (event.type === 'partial' || event.type === 'partial.reset') {
      for (const piece of await projection.preview(event, last, state)) {
        if (previews.has(previewType(event))) yield frame(piece);
      }
      continue;
    }
    last = event.seq;
    for (const done of (await net?.readUpTo(event.seq)) ?? []) yield frame(done);
    for (const [index, projected] of (await projection.project(event)).entries()) {
      const isLogged = event.type !== 'session.deleted';
      const isSeen = isLogged && event.seq === after.seq && index <= after.index;
      if (!isSeen && seenIds?.has(projected.id) !== true)
        yield `id: ${projected.id}\n${frame(projected)}`;
    }
  }
}

/** All clients accept the event name `message`. JSON contains no line breaks, so one data line is enough. */
function frame(value: object): string {
  return `event: message\ndata: ${JSON.stringify(value)}\n\n`;
}

function previewType(event: PartialEvent): string {
  return event.type === 'partial' && event.kind === 'thinking' ? 'agent.thinking' : 'agent.message';
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
