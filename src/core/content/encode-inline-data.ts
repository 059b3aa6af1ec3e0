import type { InlineData } from './content.ts';
import { checkInlineSize } from './inline-data.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

/**
 * Encodes bytes as inline data.
 * @throws InlineDataTooLargeError above `MAX_INLINE_DATA_SIZE` bytes.
 * @throws InvalidInputError if `mimeType` is empty.
 */
export function toInlineData(
  mimeType: string,
  bytes: Uint8Array,
  displayName?: string,
): InlineData {
  if (mimeType === '') throw new InvalidInputError('inlineData.mimeType', 'must not be empty.');
  checkInlineSize(bytes.byteLength, 'inlineData.data');
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return displayName === undefined ? { mimeType, data } : { mimeType, data, displayName };
}

/** Returns the bytes of inline data. */
export function decodeInlineData(inlineData: InlineData): Uint8Array {
  return new Uint8Array(Buffer.from(inlineData.data, 'base64'));
}
