import type { InlineData } from './content.ts';
import { PetrichorError } from '../errors/petrichor-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** 10 MiB, inclusive, of the bytes themselves, before base64. */
export const MAX_INLINE_DATA_SIZE: number = 10 * 1024 * 1024;

/** Bytes are too many to stand inside a message. Nothing was kept: save them as an artifact or pass a file URI. */
export class InlineDataTooLargeError extends PetrichorError {
  override readonly code = 'inline_data_too_large' as const;
  readonly field: string;
  readonly sizeBytes: number;

  constructor(field: string, sizeBytes: number) {
    super(
      `${field} is ${sizeBytes} bytes and inline data may be at most ${MAX_INLINE_DATA_SIZE}: ` +
        'save it as an artifact, or pass a file URI.',
    );
    this.field = field;
    this.sizeBytes = sizeBytes;
  }
}

/** How many bytes padded base64 stands for, without decoding it. */
export function decodedSize(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/**
 * Accepts base64 that is well formed and within the limit, without decoding it.
 * @param field names the text in the error.
 * @throws InvalidInputError, InlineDataTooLargeError
 */
export function validateBase64(data: string, field: string): void {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    throw new InvalidInputError(field, 'must be padded base64 of the standard alphabet.');
  }
  checkSize(decodedSize(data), field);
}

/**
 * Puts bytes into a message.
 * @throws InlineDataTooLargeError, InvalidInputError
 */
export function toInlineData(
  mimeType: string,
  bytes: Uint8Array,
  displayName?: string,
): InlineData {
  if (mimeType === '') throw new InvalidInputError('inlineData.mimeType', 'must not be empty.');
  checkSize(bytes.byteLength, 'inlineData.data');
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return displayName === undefined ? { mimeType, data } : { mimeType, data, displayName };
}

/** The bytes of an inline part. */
export function decodeInlineData(inlineData: InlineData): Uint8Array {
  return new Uint8Array(Buffer.from(inlineData.data, 'base64'));
}

function checkSize(sizeBytes: number, field: string): void {
  if (sizeBytes > MAX_INLINE_DATA_SIZE) throw new InlineDataTooLargeError(field, sizeBytes);
}
