import { format as formats } from '@cfworker/json-schema';
import { linearPattern } from './linear-pattern.ts';

/** What a longer text is judged by is bounded: some of the expressions behind formats need time in the square of it. */
const MAX_LENGTH = 2_048;

/** Says whether a text has a format of JSON Schema. A format that nobody knows fits every text. */
export function hasFormat(text: string, format: string): boolean {
  if (format === 'url') return URL.canParse(text);
  if (format === 'regex') return isPattern(text);
  const fits = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (fits === undefined) return true;
  if (text.length <= MAX_LENGTH) return fits(text);
  if (format === 'uri') return URL.canParse(text);
  return format === 'uri-reference' && URL.canParse(text, 'http://localhost');
}

/** What it takes at most to say so, in steps of a pattern. */
export function formatWork({ length }: string, format: string): number {
  // It is compiled, with all its repetitions written out.
  if (format === 'regex') return Math.min(length, 4_000) * 10_000;
  return length <= MAX_LENGTH ? (length * length) / 10 : length;
}

function isPattern(text: string): boolean {
  try {
    linearPattern(text);
    return true;
  } catch {
    return false;
  }
}
