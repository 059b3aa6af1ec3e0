/** True if a text takes more than `limit` bytes in UTF-8. */
export function isLongerInUtf8(text: string, limit: number): boolean {
  // A UTF-16 unit takes at most three bytes, so a short text need not be encoded.
  return text.length * 3 > limit && new TextEncoder().encode(text).length > limit;
}

/** True if a text has a C0 or C1 control character or DEL. They are invisible in logs and dangerous in terminals. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
