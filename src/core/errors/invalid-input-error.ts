import { PetrichorError, type PetrichorErrorOptions } from './petrichor-error.ts';

/**
 * A value from outside is invalid. `field` is the path of the value. Nothing was changed.
 * @remedy Correct the value at `field`, and try again.
 */
export class InvalidInputError extends PetrichorError {
  override readonly code = 'invalid_input' as const;
  /** The path of the invalid value, for example `content.parts[2].inlineData.data`. */
  readonly field: string;

  constructor(field: string, problem: string, options?: PetrichorErrorOptions) {
    super(`${field}: ${problem}`, options);
    this.field = field;
  }
}
