import { readOwn } from '../../core/internal.ts';
import { format as formats } from '@cfworker/json-schema';
import { linearPattern } from './linear-pattern.ts';

/** Longer texts are not matched by the expressions of formats: some of them need quadratic time. */
const MAX_LENGTH = 2_048;

/** Whether a text has a `format` of JSON Schema. An unknown format accepts every text. */
export function hasFormat(text: string, format: string): boolean {
  if (format === 'url') return URL.canParse(text);
  if (format === 'regex') return isPattern(text);
  const fits = readOwn(formats, format);
  if (fits === undefined) return true;
  if (text.length <= MAX_LENGTH) return fits(text);
  if (format === 'uri') return URL.canParse(text);
  return format === 'uri-reference' && URL.canParse(text, 'http://localhost');
}

/** An upper bound on the work of `hasFormat`, in steps of a pattern. */
export function formatWork({ length }: string, format: string): number {
  // The check compiles the text, with all its repetitions expanded.
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
