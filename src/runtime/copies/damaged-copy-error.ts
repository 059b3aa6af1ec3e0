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
    super(
      `${file} ${problem}. Nothing was written. Copy the file again from where it was written, or use another copy.`,
      options,
    );
    this.file = file;
  }
}
