/** Returns the length of a text in UTF-8 bytes. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** True if a text has a C0 or C1 control character or DEL. They are invisible in logs and dangerous in terminals. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
