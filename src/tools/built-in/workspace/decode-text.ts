import { FileError } from './file-error.ts';

const INSPECTED_BYTES = 8_192;

/** True for bytes that are not text. Like git, it looks for a NUL byte near the beginning. */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, INSPECTED_BYTES).includes(0);
}

/**
 * Decodes the text of a file. Only valid UTF-8 is accepted, so that writing the text back loses
 * nothing.
 * @throws FileError with `binary_file`
 */
export function decodeText(bytes: Buffer, path: string): string {
  const refused = new FileError('binary_file', path, 'is not UTF-8 text.');
  if (looksBinary(bytes)) throw refused;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused;
  }
}
