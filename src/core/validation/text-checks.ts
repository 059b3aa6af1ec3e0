/** The length of a text in UTF-8 bytes. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** True when a text holds a control character of C0 or C1, or DEL: invisible in a log, and a trap in a terminal. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
