import { PetrichorError, type PetrichorErrorOptions } from '../../../core/index.ts';

/**
 * Why a file tool did nothing. `path_refused`: the path leads out of the folder, or over a link. `file_changed`:
 * someone else changed the file meanwhile. `text_not_found`: the text to replace is not in the file, or more than once
 * where one is meant, or the lines to read are not. `file_in_use`: the file belongs to a database that is open.
 * `file_failed`: the system refused.
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

/** A file tool did nothing, or found nothing it may show. The message is for the model, and names no path of the host. */
export class FileError extends PetrichorError {
  override readonly code: FileErrorCode;
  /** As the model wrote it. */
  readonly path: string;

  constructor(code: FileErrorCode, path: string, problem: string, options?: PetrichorErrorOptions) {
    super(`${path === '' ? 'The working folder' : path}: ${problem}`, options);
    this.code = code;
    this.path = path;
  }
}
