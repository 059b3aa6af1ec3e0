import { PetrichorError, type PetrichorErrorOptions } from './petrichor-error.ts';

/** Thrown if a value from outside is invalid. Nothing was changed. Correct `field` and try again. */
export class InvalidInputError extends PetrichorError {
  override readonly code = 'invalid_input' as const;
  /** The path of the invalid value, for example `content.parts[2].inlineData.data`. */
  readonly field: string;

  constructor(field: string, problem: string, options?: PetrichorErrorOptions) {
    super(`${field}: ${problem}`, options);
    this.field = field;
  }
}
