import { InvalidInputError } from '../../core/index.ts';
import type { Seq } from '../../core/index.ts';
import type { PreviewLengths } from './session-fold.ts';

/**
 * The position of a frame in a run: the number of its log entry, and its number among the frames of that entry, from 0.
 * A frame that shows text in progress has the position of the last stored frame before it.
 */
export interface FrameCursor {
  readonly seq: Seq;
  readonly index: number;
  /** How much of the texts in progress the reader has. */
  readonly previews: PreviewLengths;
}

/** The id of a frame: `seq.index`, and the lengths of the texts in progress. */
export function formatFrameCursor({ seq, index, previews }: FrameCursor): string {
  const texts = [...previews].map(([key, length]) => `${encodeURIComponent(key)}:${length}`);
  return [`${seq}.${index}`, ...texts].join('~');
}

/**
 * Reads the id of the last frame that a client has. Undefined for an absent or empty id.
 * @throws InvalidInputError for an id that no frame has
 */
export function parseFrameCursor(id: string | null | undefined): FrameCursor | undefined {
  if (id === null || id === undefined || id === '') return undefined;
  const [, seq, index, texts = ''] =
    /^(\d{1,15})\.(\d{1,9})((?:~[\w%.!*'()-]{1,512}:\d{1,15}){0,32})$/.exec(id) ?? [];
  if (seq === undefined || index === undefined) throw invalidCursor();
  const previews = new Map<string, number>();
  for (const text of texts.split('~').slice(1)) {
    const end = text.lastIndexOf(':');
    previews.set(decodeKey(text.slice(0, end)), Number(text.slice(end + 1)));
  }
  return { seq: Number(seq), index: Number(index), previews };
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidCursor();
  }
}

function invalidCursor(): InvalidInputError {
  return new InvalidInputError('last-event-id', 'must be the id of a frame of this run.');
}
