import measureWidth from 'fast-string-truncated-width';

/**
 * The number of terminal columns of a text: two for East Asian wide characters and emoji, none for
 * combining and control characters and styles. A tab counts as one.
 */
export function textWidth(text: string): number {
  return measureWidth(text.replaceAll('\t', ' ')).width;
}

/** Pads a text with spaces to a number of columns. A wider text is unchanged. */
export function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}
