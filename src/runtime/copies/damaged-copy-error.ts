import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/**
 * A backup or an exported session is damaged, was cut off, is of a later version, or is another file. Nothing was
 * written.
 * @remedy Copy the file again from where it was written, or use another copy.
 */
export class DamagedCopyError extends PetrichorError {
  override readonly code = 'damaged_copy' as const;
  /** The name of the file. */
  readonly file: string;

  constructor(file: string, problem: string, options?: PetrichorErrorOptions) {
    // The problem can be the message of another error, which ends with a period.
    super(
      `${file} ${problem.replace(/\.$/, '')}. Nothing was written. Copy the file again from where it was written, or use another copy.`,
      options,
    );
    this.file = file;
  }
}
