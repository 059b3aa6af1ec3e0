import type { JsonObject } from '../../core/index.ts';
import { frameStream } from '../events/frame-stream.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { formatFrameCursor, parseFrameCursor } from './frame-cursor.ts';
import { readRun } from './session-run.ts';
import type { ReadRunOptions, SessionRun } from './session-run.ts';
import type { SessionUpdate } from './session-update.ts';

/** One frame of a protocol. */
export interface Frame {
  /** JSON, or text that is sent as it is. */
  readonly data: JsonObject | string;
  /** The name of the event. Default: none. */
  readonly event?: string;
}

/**
 * Maps an update to frames. It is created for each stream. It gets every update of the run from the first on, and the
 * number of frames that it returns for an update must not depend on the length of a text.
 */
export type FrameMapping<F = Frame> = (update: SessionUpdate) => readonly F[];

/** A frame with its id, `seq.k`. */
export interface IdentifiedFrame<F> {
  readonly frame: F;
  readonly id: string;
}

export interface RunResponseOptions {
  readonly map: FrameMapping;
  /** Encodes a frame with its id. Default: `id`, `event` and `data` in one event. */
  readonly encode?: (frame: Frame, id: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Streams a run as server-sent events. The id of a frame is `seq.k`: the number of its log entry, and its number among
 * the frames of that entry. A request with `Last-Event-ID` gets the frames after that one. A silent stream has comments.
 * Disconnecting does not affect the session.
 * @throws InvalidInputError for an invalid `Last-Event-ID`
 */
export function runResponse(
  context: ServerContext,
  {
    request,
    isKeyValid,
    destroyConnection,
  }: Pick<RouteCall<unknown, unknown>, 'request' | 'isKeyValid' | 'destroyConnection'>,
  run: SessionRun,
  options: RunResponseOptions,
): Response {
  const { clock, closing, keepAliveMs, readerTimeoutMs } = context;
  const after = parseFrameCursor(request.headers.get('last-event-id'));
  const response = frameStream({
    frames: (signal) => toFrames(context, run, { ...options, after, signal }),
    signals: [request.signal, closing],
    isAllowed: isKeyValid,
    clock,
    keepAliveMs,
    readerTimeoutMs,
    destroyConnection,
  });
  for (const [name, value] of Object.entries(options.headers ?? {}))
    response.headers.set(name, value);
  return response;
}

async function* toFrames(
  context: ServerContext,
  run: SessionRun,
  {
    map,
    encode = encodeFrame,
    after,
    signal,
  }: RunResponseOptions & Pick<ReadRunOptions, 'after' | 'signal'>,
): AsyncGenerator<string, void, undefined> {
  // The frames of an update are one write: some readers parse each write of its own.
  for await (const frames of readFrames(context, run, { map, after, signal }))
    yield frames.map(({ frame, id }) => encode(frame, id)).join('');
}

/** Maps a run to the frames that the reader does not have yet. Yields those of an update together. */
export async function* readFrames<F>(
  context: ServerContext,
  run: SessionRun,
  {
    map,
    after,
    signal,
  }: { readonly map: FrameMapping<F> } & Pick<ReadRunOptions, 'after' | 'signal'>,
): AsyncGenerator<readonly IdentifiedFrame<F>[], void, undefined> {
  let position = { seq: run.from, index: -1 };
  for await (const one of readRun(context, run, { signal, previews: true, after })) {
    const { seq, update, isStored, isShown, previews } = one;
    if (seq !== position.seq) position = { seq, index: -1 };
    const frames: IdentifiedFrame<F>[] = [];
    for (const frame of map(update)) {
      if (isStored) position.index++;
      const isRead =
        after !== undefined &&
        isStored &&
        (seq < after.seq || (seq === after.seq && position.index <= after.index));
      if (isShown || isRead) continue;
      const index = Math.max(0, position.index);
      frames.push({ frame, id: formatFrameCursor({ seq, index, previews }) });
    }
    if (frames.length > 0) yield frames;
  }
}

function encodeFrame({ data, event }: Frame, id: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `id: ${id}\n${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
