import type { Json } from '../../core/index.ts';
import { textWidth } from './text-width.ts';

/** Control characters: the text of a model must not control the terminal. */
const CONTROL = /[^\P{Cc}\n\t]/gu;
/** Characters that change the text direction, and so can disguise a text as another. */
const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What a reader sees as one character, such as an emoji of several code points. */
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The text without control characters. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROL, '');
}

/** The text in one line of at most `width` columns, cut with an ellipsis. */
export function oneLine(text: string, width: number): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  return truncate(line, width);
}

/** The beginning of a line, in at most `width` columns. A cut line ends in an ellipsis. */
export function truncate(line: string, width: number): string {
  // No UTF-16 code unit is wider than two columns.
  if (line.length * 2 <= width) return line;
  let columns = 0;
  let end = 0;
  for (const { segment, index } of GRAPHEMES.segment(line)) {
    columns += textWidth(segment);
    if (columns > width) return `${line.slice(0, end).trimEnd()}…`;
    // The ellipsis needs a column, too.
    if (columns < width) end = index + segment.length;
  }
  return line;
}

/** Readable JSON: invisible characters are written as escapes. */
export function jsonText(value: Json): string {
  return JSON.stringify(value).replace(DIRECTION, toEscape).replace(CONTROL, toEscape);
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
