import { PetrichorError } from '../errors/petrichor-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** The maximum size of inline data, in bytes before base64 encoding: 10 MiB. */
export const MAX_INLINE_DATA_SIZE: number = 10 * 1024 * 1024;

/**
 * Inline data has more than 10 MiB. Nothing was stored.
 * @remedy Save the data as an artifact, or pass a file URI.
 */
export class InlineDataTooLargeError extends PetrichorError {
  override readonly code = 'inline_data_too_large' as const;
  readonly field: string;
  readonly sizeBytes: number;

  constructor(field: string, sizeBytes: number) {
    super(
      `${field} has ${sizeBytes} bytes, but inline data may have at most ${MAX_INLINE_DATA_SIZE}: ` +
        'save it as an artifact, or pass a file URI.',
    );
    this.field = field;
    this.sizeBytes = sizeBytes;
  }
}

/** Returns the number of bytes that padded base64 encodes, without decoding it. */
export function decodedSize(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/**
 * Checks that a text is well-formed base64 within the size limit, without decoding it.
 * @param field the name of the text in the error.
 * @throws InvalidInputError if the text is not padded base64 of the standard alphabet.
 * @throws InlineDataTooLargeError above `MAX_INLINE_DATA_SIZE` bytes.
 */
export function validateBase64(data: string, field: string): void {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    throw new InvalidInputError(field, 'must be padded base64 of the standard alphabet.');
  }
  checkInlineSize(decodedSize(data), field);
}

/** @throws InlineDataTooLargeError above `MAX_INLINE_DATA_SIZE` bytes. */
export function checkInlineSize(sizeBytes: number, field: string): void {
  if (sizeBytes > MAX_INLINE_DATA_SIZE) throw new InlineDataTooLargeError(field, sizeBytes);
}
