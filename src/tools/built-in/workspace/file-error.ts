import { PetrichorError, type PetrichorErrorOptions } from '../../../core/index.ts';

/** Why a file tool failed. */
export type FileErrorCode =
  /**
   * The path leads out of the folder, is through a link, or is not a valid path; or the system cannot reject links
   * safely.
   * @remedy Use a path in the working folder. On a system without `/proc`, set `unsandboxed: true`.
   */
  | 'path_refused'
  /**
   * The file or folder does not exist.
   * @remedy Correct the path, or create the file.
   */
  | 'file_not_found'
  /**
   * The path is not a regular file, for example a folder, a pipe or a device.
   * @remedy Use the path of a regular file.
   */
  | 'not_a_file'
  /**
   * A part of the path is not a folder.
   * @remedy Correct the path.
   */
  | 'not_a_folder'
  /**
   * The file has more bytes than can be read.
   * @remedy Read a part of the file with a command.
   */
  | 'file_too_large'
  /**
   * The file is not UTF-8 text.
   * @remedy Use a text file, or convert the file with a command.
   */
  | 'binary_file'
  /**
   * The file was changed concurrently.
   * @remedy Read the file again, and repeat the change.
   */
  | 'file_changed'
  /**
   * The text to replace is missing or not unique, or the lines to read do not exist.
   * @remedy Read the file. Include more surrounding text, or set `replace_all`.
   */
  | 'text_not_found'
  /**
   * The file belongs to an open database.
   * @remedy Use another file.
   */
  | 'file_in_use'
  /**
   * The system reported an error, for example that permission is denied.
   * @remedy Check the permissions and the disk of the working folder.
   */
  | 'file_failed';

/**
 * A file tool cannot do its work. The message is for the model and contains no path of the host.
 * @remedy Each member of `FileErrorCode` names its own.
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
