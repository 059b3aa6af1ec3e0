import type { LogEvent, PartialEvent, Seq } from '../../core/index.ts';
import type { SessionDeleted } from '../../managed/index.ts';
import { PreviewState } from '../wire/event-projection.ts';
import type { EventPosition, EventProjection } from '../wire/event-projection.ts';
import { frame, frameStream } from './frame-stream.ts';
import type { FrameStreamOptions } from './frame-stream.ts';
import type { NetEvents } from './net-events.ts';

export interface EventStreamOptions extends Omit<FrameStreamOptions, 'frames'> {
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
}

/**
 * Streams the events of a log. It ends after the last event of a finished session, and when a signal aborts. A reader can
 * resume after any event.
 */
export function eventStream(options: EventStreamOptions): Response {
  const { log, after } = options;
  const from = after.index === Infinity ? after.seq : after.seq - 1;
  return frameStream({ ...options, frames: (signal) => toFrames(log(from, signal), options) });
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

function previewType(event: PartialEvent): string {
  return event.type === 'partial' && event.kind === 'thinking' ? 'agent.thinking' : 'agent.message';
}
