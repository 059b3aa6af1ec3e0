import type { LogEvent, PartialEvent, Seq } from '../../core/index.ts';
import type { SessionDeleted } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import type { NetEvents } from './net-events.ts';
import { PreviewState } from '../wire/event-projection.ts';
import type { EventPosition, EventProjection } from '../wire/event-projection.ts';

export interface EventStreamOptions {
  readonly log: (
    from: Seq,
    signal: AbortSignal,
  ) => AsyncIterable<LogEvent | PartialEvent | SessionDeleted>;
  readonly projection: EventProjection;
  /** The stream goes on after this place; an infinite index means the whole entry. */
  readonly after: EventPosition;
  /** Events that the reader has, wherever they will stand. */
  readonly seenIds?: ReadonlySet<string>;
  /** What the net did, for whoever asked for it. It has no id to go on from: that is its event's. */
  readonly net: NetEvents | undefined;
  /** The types of events that are shown while they are made. */
  readonly previews: ReadonlySet<string>;
  /** Any of them ends the stream. */
  readonly signals: readonly AbortSignal[];
  readonly clock: Clock;
  /** A comment after so long a silence. */
  readonly keepAliveMs: number;
  /** A reader that takes nothing for so long, while there is something, is let go. */
  readonly readerTimeoutMs: number;
  /** Ends a connection that takes nothing any more, and so not its end either. */
  readonly destroyConnection: () => void;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * Events in the format of server-sent events. One is made when the reader takes one: nothing piles up here. It ends
 * after what the log ends with, and when a signal aborts; whoever has read to some event can go on from it.
 */
export function eventStream(options: EventStreamOptions): Response {
  const { log, after, signals, clock, keepAliveMs, readerTimeoutMs, destroyConnection } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([...signals, ended.signal]);
  const from = after.index === Infinity ? after.seq : after.seq - 1;
  const frames = toFrames(log(from, signal), options);
  const encoder = new TextEncoder();
  // Begun now: what happens before the reader takes anything is of this stream.
  let next: Promise<IteratorResult<string>> | undefined = frames.next();
  next.catch(() => undefined);
  let cancelReaderTimeout = (): void => {};
  const stop = async (): Promise<void> => {
    cancelReaderTimeout();
    ended.abort();
    // Not awaited by the reader: what waits for the log ends by the signal.
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
          // Closed like any other end: the reader goes on from its last event.
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

/** The one name that every client takes; JSON has no line break of its own. */
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
