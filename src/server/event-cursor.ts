import { InvalidInputError } from '../core/index.ts';
import type { LogEvent, Seq } from '../core/index.ts';
import type { WireFace } from './wire-face.ts';

/** After which event a reader goes on: several events of the wire may show one of the log. */
export interface EventCursor {
  readonly seq: Seq;
  readonly index: number;
}

/** Finds the event that a reader has seen last. @throws InvalidInputError when it is not of this log */
export async function cursorAfter(
  log: AsyncIterable<LogEvent>,
  face: WireFace,
  id: string,
): Promise<EventCursor> {
  for await (const event of log) {
    const index = (await face.show(event)).findIndex((shown) => shown.id === id);
    if (index >= 0) return { seq: event.seq, index };
  }
  throw new InvalidInputError(
    'after_id',
    `"${id.slice(0, 64)}" is no event of this session: read its events to see which there are.`,
  );
}
