import { FileError } from './file-error.ts';

const INSPECTED_BYTES = 8_192;

/** True for bytes that are no text: they hold a NUL near their beginning, as git judges. */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, INSPECTED_BYTES).includes(0);
}

/** The text of a file. @throws FileError with `binary_file` when it is not UTF-8, so that nothing is lost by writing it back. */
export function decodeText(bytes: Buffer, path: string): string {
  const refused = new FileError('binary_file', path, 'is not text in UTF-8.');
  if (looksBinary(bytes)) throw refused;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused;
  }
}
