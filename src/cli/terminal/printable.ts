import type { Json } from '../../core/index.ts';

/** Characters that move the cursor, ring, recolour: a model's text must not command the terminal it is shown in. */
const CONTROL = /[^\P{Cc}\n\t]/gu;
/** Characters that turn the direction of what follows, and so can show one text for another. */
const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text without what a terminal would obey. Lines and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROL, '');
}

/** The text in one line, at most `width` characters, cut with an ellipsis. */
export function oneLine(text: string, width: number): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  return truncate(line, width);
}

/** The first `width` characters of a line, the last of them an ellipsis when there are more. */
export function truncate(line: string, width: number): string {
  if (line.length <= width) return line;
  return `${line.slice(0, Math.max(0, width - 1)).trimEnd()}…`;
}

/** JSON that reads as what it is: characters a reader would not see are written as escapes. */
export function jsonText(value: Json): string {
  return JSON.stringify(value).replace(DIRECTION, toEscape).replace(CONTROL, toEscape);
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
