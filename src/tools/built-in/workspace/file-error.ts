import { PetrichorError, type PetrichorErrorOptions } from '../../../core/index.ts';

/**
 * Why a file tool failed.
 *
 * - `path_refused`: the path leads out of the folder, or through a link.
 * - `file_changed`: the file was changed concurrently.
 * - `text_not_found`: the text to replace is missing or not unique, or the lines to read do not
 *   exist.
 * - `file_in_use`: the file belongs to an open database.
 * - `file_failed`: the system reported an error.
 */
export type FileErrorCode =
  | 'path_refused'
  | 'file_not_found'
  | 'not_a_file'
  | 'not_a_folder'
  | 'file_too_large'
  | 'binary_file'
  | 'file_changed'
  | 'text_not_found'
  | 'file_in_use'
  | 'file_failed';

/**
 * Thrown when a file tool cannot do its work. The message is for the model and contains no path of
 * the host.
 */
export class FileError extends PetrichorError {
  override readonly code: FileErrorCode;
  /** The path as the model wrote it. */
  readonly path: string;

  constructor(code: FileErrorCode, path: string, problem: string, options?: PetrichorErrorOptions) {
    super(`${path === '' ? 'The working folder' : path}: ${problem}`, options);
    this.code = code;
    this.path = path;
  }
}
